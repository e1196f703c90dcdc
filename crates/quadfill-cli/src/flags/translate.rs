//! Turns the settings that library errors name into flags. Nothing else in the program knows which
//! flag a setting is.

use anyhow::Error;
use quadfill::Setting;
use quadfill_io::{ColumnWarning, ReadError, WriteError};
use quadfill_lab::LabError;

use crate::paths;

/// The flag of a setting.
fn flag(setting: Setting) -> String {
    match setting {
        Setting::Ties => "--tie".to_owned(),
        Setting::Biases => "--bias".to_owned(),
        Setting::Bins => "--bin".to_owned(),
        other => flag_of_name(other.name()),
    }
}

fn flag_of_name(name: &str) -> String {
    format!("--{}", name.replace('_', "-"))
}

/// An error in one sentence, with flags in place of settings, and with what to do where the system
/// only says what is wrong.
pub(crate) fn sentence(error: &Error) -> String {
    if let Some(error) = error.downcast_ref() {
        return library_sentence(error);
    }
    if let Some(error) = error.downcast_ref() {
        return read_sentence(error);
    }
    if let Some(WriteError { path, source }) = error.downcast_ref() {
        return format!(
            "{}: this could not be written ({source}): make room or choose another path",
            path.display()
        );
    }
    if let Some(error) = error.downcast_ref() {
        return lab_sentence(error);
    }
    error.to_string()
}

fn library_sentence(error: &quadfill::Error) -> String {
    match error {
        quadfill::Error::Io { path, source } => {
            paths::describe_input(&path.display().to_string(), source)
        }
        quadfill::Error::UnknownLabel { mode, label } => format!(
            "`{label}` is not a label of mode `{mode}` in this model: check the spelling, or add it with \
             `quadfill fold-in`"
        ),
        quadfill::Error::MissingLabel { mode } => {
            format!("mode `{mode}` is missing: add {mode}=LABEL")
        }
        // These are about settings alone.
        quadfill::Error::Setting(_) | quadfill::Error::Unsupported(_) => {
            let settings = error.settings();
            settings.iter().fold(error.to_string(), |text, &setting| {
                text.replace(&setting.to_string(), &flag(setting))
            })
        }
        other => with_flags(other.to_string(), &other.settings()),
    }
}

fn read_sentence(error: &ReadError) -> String {
    match error {
        ReadError::Io { file, source } => paths::describe_input(file, source),
        ReadError::Data { file, source } => {
            format!("{file}: {}", library_sentence(source))
        }
        other => with_flags(other.to_string(), &other.settings()),
    }
}

/// A warning about columns, with flags in place of settings.
pub(crate) fn column_warning(warning: &ColumnWarning) -> String {
    with_flags(warning.to_string(), &warning.settings())
}

fn lab_sentence(error: &LabError) -> String {
    match error {
        LabError::Fit(error) => library_sentence(error),
        LabError::Read(error) => read_sentence(error),
        other => other.settings().iter().fold(other.to_string(), |text, name| {
            text.replace(&format!("`{name}`"), &flag_of_name(name))
        }),
    }
}

/// Messages name settings last, so a column that has the name of a setting is left alone where it
/// comes first.
fn with_flags(text: String, settings: &[Setting]) -> String {
    settings.iter().fold(text, |text, &setting| {
        let name = setting.to_string();
        match text.rfind(&name) {
            Some(at) => {
                let (before, after) = (&text[..at], &text[at + name.len()..]);
                format!("{before}{}{after}", flag(setting))
            }
            None => text,
        }
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn every_setting_is_a_flag_of_some_command() {
        let cli = crate::flags::Cli::command();
        let mut known: Vec<String> = Vec::new();
        let mut commands = vec![&cli];
        while let Some(command) = commands.pop() {
            let longs = command.get_arguments().filter_map(clap::Arg::get_long);
            known.extend(longs.map(|long| format!("--{long}")));
            commands.extend(command.get_subcommands());
        }
        for &setting in Setting::ALL {
            assert!(known.contains(&flag(setting)), "{setting} would be {}", flag(setting));
        }
    }

    #[test]
    fn settings_become_flags_and_columns_of_the_same_name_stay() {
        let text = "a.csv: there is no column `value`: name one with `value`".to_owned();
        assert_eq!(
            with_flags(text, &[Setting::Value]),
            "a.csv: there is no column `value`: name one with --value"
        );
        let error = quadfill::FitConfig { validation: 2.0, ..Default::default() }.check();
        let error = Error::from(error.expect_err("too large a share"));
        assert_eq!(
            sentence(&error),
            "--validation is 2: it must be a number between 0 and 1, such as 0.1"
        );
    }
}
