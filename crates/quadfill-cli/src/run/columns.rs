//! What the columns of a file were taken for, as text.

use quadfill_io::{ColumnRoles, ModeRole};

use crate::flags::column_warning;

/// The columns by their use, and how to change it.
pub(super) fn in_words(roles: &ColumnRoles) -> String {
    let mode = |mode: &ModeRole| match &mode.bins {
        Some(bins) => format!("{} (in bins of {bins})", mode.column),
        None => mode.column.clone(),
    };
    let modes: Vec<String> = roles.modes.iter().map(mode).collect();
    let value = match &roles.value {
        Some(value) => format!("{value} is the value"),
        None => "every row counts 1".to_owned(),
    };
    let mut uses = vec![format!("{} are modes", modes.join(", ")), value];
    uses.extend(roles.weight.iter().map(|weight| format!("{weight} is the weight")));
    match &roles.unused[..] {
        [] => {}
        [column] => uses.push(format!("{column} is not used")),
        columns => uses.push(format!("{} are not used", columns.join(", "))),
    }
    format!("{} (change with --modes, --value, --bin)", uses.join("; "))
}

/// What speaks against these uses, one line each.
pub(super) fn warnings(roles: Option<&ColumnRoles>) -> impl Iterator<Item = String> + '_ {
    let warnings = roles.map_or(&[][..], |roles| &roles.warnings);
    warnings.iter().map(|warning| format!("warning: {}", column_warning(warning)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_named_with_its_use() {
        let mode = |column: &str, bins: Option<&str>| ModeRole {
            column: column.to_owned(),
            bins: bins.map(str::to_owned),
        };
        let mut roles = ColumnRoles {
            modes: vec![mode("user", None), mode("time", Some("4 weeks"))],
            value: Some("stars".to_owned()),
            weight: None,
            unused: Vec::new(),
            warnings: Vec::new(),
        };
        assert_eq!(
            in_words(&roles),
            "user, time (in bins of 4 weeks) are modes; stars is the value \
             (change with --modes, --value, --bin)"
        );
        roles.value = None;
        roles.weight = Some("w".to_owned());
        roles.unused = vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(
            in_words(&roles),
            "user, time (in bins of 4 weeks) are modes; every row counts 1; w is the weight; \
             a, b are not used (change with --modes, --value, --bin)"
        );
    }
}
