//! Command lines that cannot work, and the sentence each one gets.

/// A command line, cut at blanks, and what it says after `quadfill: `.
pub(crate) type Case = (&'static str, &'static str);

pub(crate) const FILES: &[Case] = &[
    ("fit nowhere.csv -o m", "nowhere.csv: there is no such file: check the name"),
    (
        "fit empty_folder -o m",
        "empty_folder: the folder has no files: name a file, a folder of files, or a pattern such as 'part-*.parquet'",
    ),
    (
        "fit part-*.csv -o m",
        "part-*.csv: no file has such a name: name a file, a folder of files, or a pattern such as 'part-*.parquet'",
    ),
    ("fit empty.csv -o m", "empty.csv: the file has no rows: give at least one row with a value"),
    (
        "fit header.csv -o m",
        "header.csv: there is a header but no row below it: give at least one row with a value",
    ),
    (
        "fit ragged.csv -o m",
        "ragged.csv, line 3: expected 3 fields, got 2: every row needs as many fields as the first one (separated by `,`)",
    ),
    (
        "fit text.csv -o m",
        "text.csv, line 3: column `v` holds `high`, which is not a number: correct it or choose another column",
    ),
    (
        "fit nan.csv -o m",
        "nan.csv, line 3: column `v` holds `nan`: values must be finite numbers, leave out rows whose value is missing",
    ),
    (
        "fit infinite.csv -o m",
        "infinite.csv, line 3: column `v` holds `1e999`: values must be finite numbers, leave out rows whose value is missing",
    ),
    (
        "fit nolabel.csv -o m",
        "nolabel.csv, line 3: column `a` is empty: every row needs a label there",
    ),
    (
        "fit quote.csv -o m",
        "quote.csv, line 2: a quote opens here and is never closed: close it or double it",
    ),
    (
        "fit twice.csv -o m",
        "twice.csv, line 4: cell (1, 2) was given before on line 2: set --on-duplicate to mean, last or sum",
    ),
    ("fit latin.csv -o m", "latin.csv, line 2: the text is not UTF-8: save the file as UTF-8"),
    (
        "fit narrow.csv -o m",
        "narrow.csv: 1 column gives 0 modes: two or more modes and a value are needed, check --delimiter and --modes",
    ),
    ("fit wide.csv -o m", "wide.csv: 10 columns give 9 modes: choose 2 to 8 columns with --modes"),
    (
        "fit zero.tns -o m",
        "zero.tns, line 2: index `0` in column 1: the indices of a .tns file are whole numbers that start at 1, up to 4294967295",
    ),
    (
        "fit data.xlsx -o m",
        "data.xlsx: `.xlsx` is not an ending that Quadfill knows: set --format to delimited, tns, npy, npz, parquet or mat",
    ),
    (
        "fit cut.csv.gz -o m",
        "cut.csv.gz: the gzip archive is cut short or damaged (unexpected end of file): fetch or pack it again",
    ),
    (
        "fit broken.npy -o m",
        "broken.npy: this is not a valid .npy file: it does not begin as one: write or fetch the file again",
    ),
    (
        "fit broken.npz -o m",
        "broken.npz: the zip archive is cut short or damaged (invalid Zip archive: Could not find EOCD): fetch or pack it again",
    ),
    (
        "fit broken.parquet -o m",
        "broken.parquet: this is not a valid Parquet file: Parquet error: Invalid Parquet file. Corrupt footer: write or fetch the file again",
    ),
    (
        "fit broken.mat -o m",
        "broken.mat: this is not a valid MATLAB version 5 file: its header is not that of one: write or fetch the file again",
    ),
    (
        "fit weights.csv -o m --weight w",
        "weights.csv, line 3: the weight is -1: weights must not be negative",
    ),
    (
        "fit single.csv -o m --split-latest a=0.5",
        "holding out the latest 0.5 of mode `a` leaves one part empty: choose another share or finer bins",
    ),
    (
        "fit times.csv -o m --bin t=1d",
        "times.csv, line 2: column `t` holds `noon`, which is not a time: write seconds since 1970 or a date such as 2003-05-17",
    ),
    (
        "fit good.csv -o m --on-duplicate mean --test nowhere.csv",
        "nowhere.csv: there is no such file: check the name",
    ),
    (
        "fit good.csv -o m --on-duplicate mean --test other.csv",
        "other.csv: there is no column `film`: the columns are `user`, `place`",
    ),
    (
        "fit good.csv -o m --on-duplicate mean --test badval.csv",
        "badval.csv, line 2: column `stars` holds `many`, which is not a number: correct it or choose another column",
    ),
    ("inspect nowhere.csv", "nowhere.csv: there is no such file: check the name"),
    (
        "inspect ragged.csv",
        "ragged.csv, line 3: expected 3 fields, got 2: every row needs as many fields as the first one (separated by `,`)",
    ),
];

pub(crate) const FLAGS: &[Case] = &[
    ("", "no command is given: see `quadfill --help`"),
    (
        "frobnicate",
        "`frobnicate` is not a command: choose synth, fit, predict, evaluate, certify, top, explain, export, fold-in, update, inspect, words, demo, reproduce, completions",
    ),
    (
        "reproduce nothing",
        "`nothing` is not an experiment: choose phase, recovery-als, recovery-sdp, convergence, recovery-gd, robustness, timing, kernels, landscape, incoherence, theorem, movielens, hyperspectral, words or all",
    ),
    (
        "reproduce movielens",
        "movielens is an experiment on data that you have: name them with --data",
    ),
    (
        "reproduce phase --data good.csv",
        "--data is for experiments on data that you have (movielens, hyperspectral, words): leave it out",
    ),
    (
        "reproduce movielens --data .",
        ".: none of u.data, ratings.dat, ratings.csv is here: name the folder of MovieLens as it is unpacked",
    ),
    ("reproduce phase --downsample 2", "--downsample is for hyperspectral: leave it out"),
    ("reproduce phase --seeds 0", "--seeds 0: give a whole number above 0"),
    (
        "reproduce phase --quick --full",
        "`--quick` cannot be used with `--full`: leave one of them out",
    ),
    ("reproduce phase --out good.csv", "good.csv: this is a file: name a folder"),
    (
        "fit good.csv -o m --report page.txt",
        "page.txt: a report is a page: choose a name that ends in .html",
    ),
    ("fit good.csv -o m --rnak 3", "there is no `--rnak`: did you mean `--rank`?"),
    ("fit good.csv -o m --zzz", "there is no `--zzz`: see `quadfill fit --help`"),
    ("fit good.csv", "--output <MODEL> is missing: see `quadfill fit --help`"),
    ("fit -o m", "<DATA> is missing: see `quadfill fit --help`"),
    (
        "fit good.csv extra.csv -o m",
        "`extra.csv` is one argument too many: see `quadfill fit --help`",
    ),
    ("fit good.csv -o m --rank", "`--rank <R>` needs a value: see `quadfill fit --help`"),
    ("fit good.csv -o m --rank 0", "--rank 0: give a whole number above 0, or auto"),
    ("fit good.csv -o m --rank ten", "--rank ten: give a whole number above 0, or auto"),
    ("fit good.csv -o m --rank 5000", "--rank is 5000: it must be from 1 to 4096"),
    ("fit good.csv -o m --rank 2 --rank 3", "`--rank <R>` is given more than once: give it once"),
    (
        "fit good.csv -o m --model tucker",
        "--model cannot be tucker: choose pairwise, transe, norms, matrix, cp, learned or pairs:1-2,1-3, or give a kernel",
    ),
    (
        "fit three.csv -o m --model learned --tie 1,3",
        "a kernel cannot be learned where modes share their factors: leave --tie out, or choose another --model",
    ),
    (
        "fit good.csv -o m --model learned --solver gibbs",
        "a kernel cannot be learned by the solvers sdp and gibbs: leave --solver out, or choose another --model",
    ),
    (
        "fit good.csv -o m --model learned --implicit 0.1 --penalty 0.1",
        "--implicit needs a kernel that is known: --model must be pairwise, matrix, pairs or cp",
    ),
    (
        "fit good.csv -o m --model learned --theory auto",
        "the theorem is about a kernel that is known: leave --theory out or choose another --model",
    ),
    ("fit good.csv -o m --model pairs:1", "1 is not a pair of modes: write pairs as pairs:1-2,1-3"),
    (
        "fit good.csv -o m --on-duplicate mean --model pairs:1-4",
        "the pair 1-4 is not a pair of 2 modes: write pairs as 1-2,1-3",
    ),
    (
        "fit good.csv -o m --kernel 0,1;2,0",
        "the kernel is not symmetric: entry (2, 1) is 2 but (1, 2) is 1: write the same number in both places",
    ),
    (
        "fit good.csv -o m --kernel 0,x;x,0",
        "x in the kernel is not a number: write it as \"0 .5 .5; .5 0 .5; .5 .5 0\"",
    ),
    (
        "fit good.csv -o m --on-duplicate mean --kernel 0,1,1;1,0,1;1,1,0",
        "the kernel is for 3 modes but the data have 2: give one row and one column per mode",
    ),
    ("fit good.csv -o m --penalty -1", "--penalty is -1: it must be a number not below 0"),
    ("fit good.csv -o m --penalty small", "--penalty small: give a number such as 0.1 or 1e-3"),
    ("fit good.csv -o m --centre yes", "--centre yes: choose auto, on, off"),
    (
        "fit good.csv -o m --centre on",
        "--centre is for CP only: leave it out, or set --model to cp",
    ),
    ("fit good.csv -o m --penalty-scale rows", "--penalty-scale rows: choose auto, uniform, count"),
    ("fit good.csv -o m --bias all", "--bias all: choose auto, none, mean, modes"),
    (
        "fit good.csv -o m --validation 1.5",
        "--validation is 1.5: it must be a number between 0 and 1, such as 0.1",
    ),
    ("fit good.csv -o m --tolerance -1", "--tolerance is -1: it must be a number not below 0"),
    ("fit good.csv -o m --path-steps 0", "--path-steps 0: give a whole number above 0"),
    ("fit good.csv -o m --sweeps -3", "--sweeps -3: give a whole number above 0"),
    (
        "fit good.csv -o m --solver sgd",
        "--solver sgd: choose auto, path, als, gd, lbfgs, gauss-newton, sdp, gibbs",
    ),
    ("fit good.csv -o m --step 0.1", "--step is for --solver gd only: leave it out"),
    ("fit good.csv -o m --solver gd --step 0", "--step is 0: it must be a number above 0"),
    (
        "fit good.csv -o m --time-limit 0",
        "--time-limit is 0: it must be a number of seconds above 0",
    ),
    ("fit good.csv -o m --precision f16", "--precision f16: choose f32, f64"),
    (
        "fit good.csv -o m --incoherence 3",
        "--row-norm-penalty 3: give two numbers separated by a comma, such as 20,0.01",
    ),
    (
        "fit good.csv -o m --incoherence -1,1",
        "--row-norm-penalty is -1,1: give alpha, which must be above 0, and lambda2, which must not be below 0",
    ),
    (
        "fit good.csv -o m --perturb --model cp",
        "--perturb is for quadratic models only: leave it out, or choose another --model",
    ),
    (
        "fit good.csv -o m --resume",
        "m.checkpoint: there is no checkpoint to resume from: leave --resume out to start over",
    ),
    (
        "fit good.csv -o m --resume --solver lbfgs",
        "--resume is for the solvers path, als and gibbs, which keep checkpoints: leave it out",
    ),
    ("fit good.csv -o m --samples 100", "--samples is for --solver gibbs only: leave it out"),
    (
        "fit good.csv -o m --solver als --chains 2",
        "--chains is for --solver gibbs only: leave it out",
    ),
    ("fit good.csv -o m --solver gibbs --chains 0", "--chains 0: give a whole number above 0"),
    (
        "fit good.csv -o m --solver gibbs --burn-in -1",
        "--burn-in -1: give a whole number not below 0",
    ),
    (
        "fit good.csv -o m --solver gibbs --penalty 0.1",
        "the solver gibbs also draws the penalties: leave --penalty out",
    ),
    (
        "fit good.csv -o m --solver gibbs --penalty-scale count",
        "the solver gibbs also draws the penalties: leave --penalty-scale out",
    ),
    (
        "fit good.csv -o m --solver als --rank auto",
        "only the solvers path, gibbs and sdp find the rank themselves: give a number, such as --rank 10",
    ),
    (
        "fit good.csv -o m --solver gibbs --sweeps 10",
        "the solver gibbs takes --burn-in and --samples: leave --sweeps out",
    ),
    (
        "fit good.csv -o m --solver gibbs --perturb",
        "the solver gibbs has neither --row-norm-penalty nor --perturb: leave them out",
    ),
    (
        "fit good.csv -o m --solver gibbs --implicit 0.1",
        "the solver gibbs is for observed cells only: leave --implicit or --solver out",
    ),
    (
        "fit good.csv -o m --solver gibbs --theory auto",
        "the theorem is about an objective, not about draws: leave --theory or --solver out",
    ),
    (
        "fit good.csv -o m --solver gibbs --thin 400",
        "--thin is 400, which keeps none of 300 draws: choose a smaller number",
    ),
    (
        "fit good.csv -o m --solver gibbs --thin 1 --rank 20",
        "300 kept draws of rank 20 have more than 4096 columns: choose a larger --thin or fewer --chains",
    ),
    (
        "fit good.csv -o m --solver gibbs --model transe --on-duplicate mean",
        "the solver gibbs is for cp and for kernels with zeros on the diagonal: set --model to pairwise, matrix, pairs or cp, or choose another --solver",
    ),
    (
        "fit three.csv -o m --solver gibbs --tie 1,2",
        "the solver gibbs needs factors of their own for every mode: leave --tie out",
    ),
    ("fit good.csv -o m --sdp-form trace", "--sdp-form is for --solver sdp only: leave it out"),
    (
        "fit good.csv -o m --solver sdp --sdp-form nuclear",
        "--sdp-form nuclear: choose trace, penalised, objective",
    ),
    (
        "fit good.csv -o m --solver sdp --penalty 0",
        "the objective form of the solver sdp needs a --penalty above 0: give one, or leave --penalty out for exact data",
    ),
    (
        "fit good.csv -o m --solver sdp --sdp-form penalised",
        "the penalised form of the solver sdp needs alpha and lambda2: give a --row-norm-penalty, or --theory with alpha",
    ),
    (
        "fit good.csv -o m --solver sdp --sdp-form trace --penalty 1",
        "the trace form of the solver sdp has no penalties: leave --penalty, --row-norm-penalty and --perturb out, or set --sdp-form to objective",
    ),
    (
        "fit good.csv -o m --solver sdp --bias modes",
        "the trace form of the solver sdp fits no biases: give a --penalty, or set --bias to none or mean",
    ),
    (
        "fit good.csv -o m --on-duplicate mean --solver sdp --model cp",
        "the solver sdp is for quadratic models, which are linear in U U^T: choose another --solver or another --model",
    ),
    (
        "fit good.csv -o m --solver sdp --resume",
        "--resume is for the solvers path, als and gibbs, which keep checkpoints: leave it out",
    ),
    ("fit good.csv -o m --theory big", "--theory big: give a number such as 0.1, or auto"),
    (
        "fit good.csv -o m --theory -2",
        "alpha is -2: --theory needs the largest squared norm of a true row, above 0, or auto",
    ),
    ("fit good.csv -o m --theory 2 --rank 3", "--theory sets the rank: leave --rank out"),
    (
        "fit good.csv -o m --theory 2 --penalty 3",
        "`--theory <ALPHA>` cannot be used with `--penalty <X>`: leave one of them out",
    ),
    (
        "fit good.csv -o m --theory 2 --penalty-scale count",
        "the theorem penalises all rows equally: leave --penalty-scale or --theory out",
    ),
    (
        "fit good.csv -o m --on-duplicate mean --theory 2 --model cp",
        "the theorem is about quadratic models: leave --theory out",
    ),
    ("fit good.csv -o m --threads 0", "--threads 0: give a whole number above 0"),
    ("fit good.csv -o m --seed -1", "--seed -1: give a whole number not below 0"),
    (
        "fit good.csv -o m --modes user,actor",
        "good.csv: there is no column `actor`: the columns are `user`, `film`, `stars`",
    ),
    (
        "fit good.csv -o m --modes user,film,stars",
        "good.csv: no column is left for the value: name it with --value",
    ),
    (
        "fit good.csv -o m --value price",
        "good.csv: there is no column `price`: the columns are `user`, `film`, `stars`",
    ),
    (
        "fit good.csv -o m --weight stars",
        "good.csv: 3 columns give 1 mode: two or more modes and a value are needed, check --delimiter and --modes",
    ),
    (
        "fit good.csv -o m --bin film",
        "--bin is film: there is no `=`: write COLUMN=WIDTH with a unit s, m, h, d or w, COLUMN=COUNT, COLUMN=auto or COLUMN=none",
    ),
    (
        "fit good.csv -o m --bin film=3y",
        "--bin is film=3y: the unit is not known: write COLUMN=WIDTH with a unit s, m, h, d or w, COLUMN=COUNT, COLUMN=auto or COLUMN=none",
    ),
    (
        "fit good.csv -o m --format xls",
        "--format is xls: it must be delimited, tns, npy, npz, parquet or mat",
    ),
    (
        "fit good.csv -o m --on-duplicate first",
        "--on-duplicate first: choose error, mean, last, sum",
    ),
    (
        "fit good.csv -o m --on-duplicate mean --tie user",
        "--tie needs two or more modes in each list, such as head,tail",
    ),
    (
        "fit good.csv -o m --on-duplicate mean --tie user,actor",
        "there is no mode `actor`: the modes are user, film",
    ),
    (
        "fit good.csv -o m --on-duplicate mean --split-latest week=0.1",
        "there is no mode `week`: the modes are user, film",
    ),
    (
        "fit good.csv -o m --split-latest film",
        "--split-latest film: write MODE=SHARE with a share between 0 and 1, such as week=0.1",
    ),
    (
        "fit good.csv -o m --test good.csv --split-latest film=0.1",
        "`--test <FILE>` cannot be used with `--split-latest <MODE=SHARE>`: leave one of them out",
    ),
    ("fit good.csv -o -", "a model cannot be written to standard output: name a folder with -o"),
    ("fit good.csv -o nowhere/m", "nowhere/m: there is no folder nowhere: make it first"),
    (
        "fit good.csv -o good.csv",
        "good.csv: there is a file of this name, which a model would replace: choose another name or remove it",
    ),
    (
        "fit good.csv -o folder",
        "folder: there is a folder of this name that is not a Quadfill model: choose another name or remove it",
    ),
    (
        "fit good.csv -o folder/file/m",
        "folder/file/m: there is no folder folder/file: make it first",
    ),
    ("completions tcsh", "`tcsh`: choose bash, elvish, fish, powershell, zsh"),
    ("demo --out good.csv", "good.csv: this is a file: name a folder"),
    ("demo --out folder", "folder: this folder holds other files: choose another one"),
    ("demo --out nowhere/demo", "nowhere: there is no such folder: make it first"),
];

pub(crate) const SYNTH: &[Case] = &[
    (
        "synth --dims 5,5 -m 9 -o s.csv --model learned",
        "data have a kernel before it is learned: choose another --model, or write a --kernel",
    ),
    ("synth --dims 5,5 -o a.tns", "--observations <M> is missing: see `quadfill synth --help`"),
    ("synth --dims 5 --observations 5 -o a.tns", "--dims 5: 1 sizes: give 2 to 8, one per mode"),
    (
        "synth --dims 5,x --observations 5 -o a.tns",
        "--dims 5,x: give whole numbers above 0 separated by commas, such as 200,200,200",
    ),
    (
        "synth --dims 5,5 --observations 26 -o a.tns",
        "26 observations are more than the 25 cells there are: lower --observations or raise --dims",
    ),
    (
        "synth --dims 5,5 --observations 20 -o a.tns --test b.tns --test-observations 6",
        "6 test observations are more than the 5 cells that are left: lower --test-observations",
    ),
    (
        "synth --dims 5,5 --observations 25 -o a.tns --test b.tns",
        "no cells are left to test on: lower --observations or leave --test out",
    ),
    (
        "synth --dims 5,5 --observations 9 --min-per-label 2 -o a.tns",
        "9 observations cannot give each of 5 labels 2: raise --observations to 10 or lower --min-per-label",
    ),
    (
        "synth --dims 5,2 --observations 10 --min-per-label 3 -o a.tns",
        "10 observations cannot give each of 5 labels 3: raise --observations to 15 or lower --min-per-label",
    ),
    (
        "synth --dims 100,100 --observations 300 --min-per-label 3 -o a.tns",
        "in 10000 draws of 300 cells some label always had fewer than 3: raise --observations to about 836 or lower --min-per-label",
    ),
    (
        "synth --dims 5,5 --observations 5 --noise -1 -o a.tns",
        "--noise -1: give a number not below 0, such as 0.1",
    ),
    (
        "synth --dims 5,5 --observations 5 -o a.parquet",
        "a.parquet: synth writes .tns and .csv files: choose one of these endings",
    ),
    (
        "synth --dims 5,5 --observations 5 -o a.tns --test a.tns",
        "a.tns: -o and --test are the same file: choose two names",
    ),
    (
        "synth --dims 5,5 --observations 5 -o nowhere/a.tns",
        "nowhere: there is no such folder: make it first",
    ),
    (
        "synth --dims 5,5 --observations 5 --test-observations 5 -o a.tns",
        "--test <FILE> is missing: see `quadfill synth --help`",
    ),
    (
        "synth --dims 4000000000,4000000000,4000000000,4000000000,4000000000 --observations 5 -o a.tns",
        "a tensor of these --dims has too many cells to count: lower them",
    ),
];

pub(crate) const MODELS: &[Case] = &[
    (
        "predict nowhere good.csv -o out.csv",
        "nowhere: there is no such model: check the path, or fit one first",
    ),
    (
        "predict good.csv good.csv -o out.csv",
        "good.csv: this is a file and not the folder of a model: give the path that a model was saved to",
    ),
    (
        "predict folder good.csv -o out.csv",
        "folder/model.json: the file is missing: copy the whole folder of the model, or fit it again",
    ),
    (
        "predict lost good.csv -o out.csv",
        "lost/model.safetensors: the file is missing: copy the whole folder of the model, or fit it again",
    ),
    (
        "predict scribbled good.csv -o out.csv",
        "scribbled/model.json: this is not the description of a model, expected ident at line 1 column 2: the file is damaged, fit the model again or use an intact copy",
    ),
    (
        "predict future good.csv -o out.csv",
        "future/model.json: it was written by a newer version of Quadfill (format 99, this one knows up to 4): upgrade Quadfill to open it",
    ),
    (
        "predict short good.csv -o out.csv",
        "short/model.safetensors: the tensors cannot be read, incomplete metadata, file not fully covered: the file is damaged, fit the model again or use an intact copy",
    ),
    (
        "predict fewer good.csv -o out.csv",
        "fewer/labels.jsonl: line 5: a label of mode 0 was expected: the file is damaged, fit the model again or use an intact copy",
    ),
    ("predict model nowhere.csv -o out.csv", "nowhere.csv: there is no such file: check the name"),
    (
        "predict model other.csv -o out.csv",
        "other.csv: there is no column `film`: the columns are `user`, `place`",
    ),
    (
        "predict model empty.csv -o out.csv",
        "empty.csv: the file has no rows: give at least one row with a value",
    ),
    ("predict model good.csv -o folder", "folder: this is a folder: name a file to write"),
    (
        "predict model good.csv -o nowhere/out.csv",
        "nowhere: there is no such folder: make it first",
    ),
    (
        "predict model good.csv --json",
        "with --json the predictions cannot go to standard output, too: name a file with -o",
    ),
    ("predict model", "<QUERY> is missing: see `quadfill predict --help`"),
    (
        "evaluate model noval.csv",
        "noval.csv: no column is left for the value: name it with --value",
    ),
    (
        "evaluate model badval.csv",
        "badval.csv, line 2: column `stars` holds `many`, which is not a number: correct it or choose another column",
    ),
    (
        "evaluate model good.csv --modes user",
        "good.csv: there is 1 column for the modes of the model, which has 2: name one column for each with --modes, in order",
    ),
    ("certify model", "<DATA> is missing: see `quadfill certify --help`"),
    ("certify model nowhere.csv", "nowhere.csv: there is no such file: check the name"),
    (
        "certify product good.csv --on-duplicate mean",
        "no certificate exists for CP: its objective is not a convex function of anything known, so the distance to the global optimum cannot be bounded; fit a quadratic model, such as pairwise, for one",
    ),
    (
        "certify model strangers.csv",
        "the data and the model have no label in common in every mode: give the data that the model was fitted to",
    ),
    (
        "certify model three.csv",
        "three.csv: there are 3 columns for the modes of the model, which has 2: name one column for each with --modes, in order",
    ),
    (
        "fit good.csv -o m --on-duplicate mean --rank auto --solver als",
        "only the solvers path, gibbs and sdp find the rank themselves: give a number, such as --rank 10",
    ),
    (
        "fit good.csv -o m --on-duplicate mean --model cp --penalty 0.1",
        "CP has no certificate by which to find the rank at a given --penalty: give a --rank, such as 10, or leave --penalty out",
    ),
    (
        "fit good.csv -o m --on-duplicate mean --penalty 0",
        "without a penalty there is no smallest rank to be certified: --penalty must be above 0, or left out",
    ),
    (
        "inspect lost",
        "lost/model.safetensors: the file is missing: copy the whole folder of the model, or fit it again",
    ),
    (
        "fit good.csv -o stuffed --on-duplicate mean",
        "stuffed: the model folder also has `notes.txt`, which would be lost: move it away",
    ),
    (
        "fit good.csv -o broken --on-duplicate mean --resume",
        "broken.checkpoint: the checkpoint is broken (header too small): remove it and fit without --resume",
    ),
];
