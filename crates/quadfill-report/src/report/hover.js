(function () {
  var tip = document.getElementById("tip");
  document.querySelectorAll("svg.qf title").forEach(function (title) {
    title.parentNode.setAttribute("data-tip", title.textContent);
    title.remove();
  });
  function place(event) {
    var box = tip.getBoundingClientRect();
    var x = event.clientX + 14, y = event.clientY - box.height - 12;
    if (x + box.width > innerWidth - 8) x = Math.max(8, event.clientX - box.width - 14);
    if (y < 8) y = event.clientY + 18;
    tip.style.transform = "translate(" + x + "px," + y + "px)";
  }
  function show(event) {
    var mark = event.target.closest && event.target.closest("[data-tip]");
    if (!mark) { tip.style.opacity = 0; return; }
    tip.textContent = mark.getAttribute("data-tip");
    tip.style.opacity = 1;
    place(event);
  }
  document.addEventListener("pointermove", show);
  document.addEventListener("pointerdown", show);
  document.addEventListener("scroll", function () { tip.style.opacity = 0; }, true);
})();
