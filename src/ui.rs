//! The page in a browser: three files that `npm run build --prefix ui` writes, as part of this program. They are statics: a constant would be in
//! the program once for each unit of code that uses it.
//!
//! Input: none. Output: the texts. Never: a file that is read at run time.

/// The document. It refers to the script as `/app.js` and to the style sheet as `/app.css`.
pub static INDEX: &str = include_str!("../ui/dist/index.html");

/// The script, an ECMAScript module without imports.
pub static SCRIPT: &str = include_str!("../ui/dist/app.js");

/// The style sheet.
pub static STYLE: &str = include_str!("../ui/dist/app.css");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_refers_to_its_own_files_and_has_nothing_inline() {
        for attribute in [" src=\"", " href=\""] {
            for value in INDEX.split(attribute).skip(1).map(|rest| rest.split('"').next().unwrap_or_default()) {
                assert!(["/app.js", "/app.css"].contains(&value) || value.starts_with("data:image/"), "{value}");
            }
        }
        for wrong in ["<style", " style=", " onload=", "javascript:", "<base", "<iframe"] {
            assert!(!INDEX.contains(wrong), "{wrong}: {INDEX}");
        }
        for script in INDEX.split("<script").skip(1) {
            assert!(script.contains("src=\"/app.js\"") && script.contains("></script>"), "{script}");
        }
        assert!(INDEX.contains("\"/app.css\""), "{INDEX}");
    }

    #[test]
    fn the_style_sheet_loads_nothing() {
        for wrong in ["@import", "url("] {
            assert!(!STYLE.contains(wrong), "{wrong}");
        }
    }
}
