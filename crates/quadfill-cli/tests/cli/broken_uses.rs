//! Uses of a model that cannot work, and the sentence each one gets.

use crate::broken_cases::Case;

/// What is done with a model; `model` has the modes `user` (0 to 4) and `film` (0 to 5).
pub(crate) const USES: &[Case] = &[
    (
        "top model --given user=9 --mode film",
        "`9` is not a label of mode `user` in this model: check the spelling, or add it with `quadfill fold-in`",
    ),
    ("top model --given actor=9 --mode film", "there is no mode `actor`: the modes are user, film"),
    (
        "top model --given 3 --mode film",
        "`3` is not a label of a mode: write MODE=LABEL, such as user=..",
    ),
    (
        "top model --given user=1,user=2 --mode film",
        "mode `user` is given more than once: give it once",
    ),
    (
        "top model --given film=1 --mode film",
        "mode `film` is both given and wanted: leave it out of --given",
    ),
    ("top three --given mode1=1 --mode mode3 -k 1", "mode `mode2` is missing: add mode2=LABEL"),
    ("top model --mode film", "--given <LABELS> is missing: see `quadfill top --help`"),
    ("top model --given user=1 --mode week", "there is no mode `week`: the modes are user, film"),
    (
        "top model --given user=1 --mode film -k 7",
        "-k 7: mode `film` has only 6 labels to choose from: ask for at most as many",
    ),
    ("top model --given user=1 --mode film -k 0", "-k 0: give a whole number above 0"),
    (
        "top model --given user=1 --mode film --candidates empty.csv",
        "empty.csv: there are no candidates: give one label per line",
    ),
    (
        "top model --given user=1 --mode film --candidates other.csv",
        "other.csv: `user,place` is not a label of mode `film` in this model: check the spelling, or add it with `quadfill fold-in`",
    ),
    (
        "top model --given user=1 --mode film --candidates nowhere.txt",
        "nowhere.txt: there is no such file: check the name",
    ),
    (
        "top model --given user=1 --mode film --exclude good.csv --exclude-by film",
        "--exclude-by film: this mode is the wanted one: name others",
    ),
    (
        "top model --batch strange.csv --mode film -k 1",
        "strange.csv: row 2 has a label of mode `user` that the model does not know: leave it out",
    ),
    ("explain model user=1", "mode `film` is missing: add film=LABEL"),
    ("explain model", "<MODE=LABEL>... is missing: see `quadfill explain --help`"),
    (
        "explain model user=1 film=2 --data nowhere.csv",
        "nowhere.csv: there is no such file: check the name",
    ),
    (
        "explain model user=1 film=2 --data strangers.csv",
        "the data and the model have no label in common in every mode: give the data that the model was fitted to",
    ),
    (
        "export model --mode film -o films.pdf",
        "films.pdf: vectors are written as .npy, .csv, .parquet, .vec or .txt: choose one of these endings",
    ),
    ("export model --mode week -o films.csv", "there is no mode `week`: the modes are user, film"),
    (
        "export model --mode film -o nowhere/films.csv",
        "nowhere: there is no such folder: make it first",
    ),
    (
        "fold-in model good.csv -o m --on-duplicate mean",
        "the data have no label that the model does not know already: update the model to learn from more observations of known labels",
    ),
    ("fold-in model nowhere.csv -o m", "nowhere.csv: there is no such file: check the name"),
    (
        "fold-in model strangers.csv -o folder",
        "folder: there is a folder of this name that is not a Quadfill model: choose another name or remove it",
    ),
    (
        "update model badval.csv -o m",
        "badval.csv, line 2: column `stars` holds `many`, which is not a number: correct it or choose another column",
    ),
    (
        "predict model good.csv -o out.csv --interval 1.5 --data good.csv",
        "--interval 1.5: give a probability between 0 and 1, such as 0.9",
    ),
    (
        "predict model good.csv -o out.csv --interval 0.9",
        "--interval needs the data that the model was fitted to: name them with --data",
    ),
    (
        "predict drawn good.csv -o out.csv --interval 0.9 --data good.csv",
        "a model of --solver gibbs has its draws for --interval: leave --data out",
    ),
    (
        "certify drawn good.csv",
        "a mean of draws minimises nothing, so there is nothing to certify: set --solver to path",
    ),
    (
        "explain drawn user=1 film=1 --data good.csv",
        "the influence of single observations is not known for a mean of draws: set --solver to path",
    ),
    (
        "update drawn strangers.csv -o m",
        "a mean of draws cannot be updated: fit all data again, fold new labels in, or set --solver to path",
    ),
    (
        "evaluate model good.csv --rank-mode week",
        "there is no mode `week`: the modes are user, film",
    ),
    (
        "evaluate model good.csv --filter good.csv",
        "--rank-mode <MODES> is missing: see `quadfill evaluate --help`",
    ),
    (
        "evaluate model good.csv --rank-mode film --filter nowhere.csv",
        "nowhere.csv: there is no such file: check the name",
    ),
    (
        "fit good.csv -o m --implicit 0.1",
        "--implicit needs a --penalty: held-out errors on observed cells cannot choose it, begin with 1e-3",
    ),
    (
        "fit good.csv -o m --implicit -1 --penalty 0.1",
        "--implicit is -1: the weight of unobserved cells must be a number above 0",
    ),
    (
        "fit good.csv -o m --implicit 0.1 --penalty 0.1 --model transe",
        "--implicit is for pairwise, matrix, pairs and cp: for models with a diagonal, such as transe, use --negatives",
    ),
    (
        "fit good.csv -o m --implicit 2 --penalty 0.1 --modes user,film --on-duplicate last",
        "an observed cell has the weight 1, no more than the 2 of unobserved ones: lower --implicit",
    ),
    (
        "fit good.csv -o m --implicit 0.1 --penalty 0.1 --bias modes",
        "--implicit is for models without biases: leave --bias out",
    ),
    (
        "fit good.csv -o m --implicit 0.1 --negatives 3",
        "`--implicit <W0>` cannot be used with `--negatives <N>`: leave one of them out",
    ),
];
