//! Markdown as styled lines.
//!
//! Input: a segment of Markdown, and a width. Output: its lines. HTML is shown as text, a link as its text and its address. Never: a
//! character that is not visible; a link whose address is hidden; a call on the stack for each level of nesting.

use super::table::Table;
use crate::render::style::{Colour, Line, Span, Style};
use crate::render::wrap::{Breaks, line_width, prefixed, wrap};
use crate::visible;
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// The columns that are left for text, however deep it is nested.
const LEAST_COLUMNS: usize = 16;

/// What is understood beyond CommonMark.
pub(crate) fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

/// What text is inside of.
#[derive(Debug)]
enum Container {
    Quote,
    List(Option<u64>),
    /// An item: its marker, and whether it was shown.
    Item(Span, bool),
}

/// The state while the events of a segment are read.
struct Writer {
    columns: usize,
    lines: Vec<Line>,
    inline: Vec<Span>,
    style: Style,
    styles: Vec<Style>,
    containers: Vec<Container>,
    /// The addresses of the open links, and where their text begins.
    links: Vec<(String, usize)>,
    /// A blank line comes before the next block.
    has_gap: bool,
    /// The heading's marks; empty outside of headings.
    heading: String,
    code: Option<String>,
    is_diff: bool,
    table: Option<Table>,
}

/// The lines of a segment.
pub(crate) fn lines(markdown: &str, columns: usize) -> Vec<Line> {
    let parser = Parser::new_ext(markdown, options());
    let mut definitions: Vec<(usize, String)> = parser
        .reference_definitions()
        .iter()
        .map(|(label, definition)| (definition.span.start, format!("[{label}]: {}", definition.dest)))
        .collect();
    definitions.sort();
    let mut writer = Writer {
        columns,
        lines: Vec::new(),
        inline: Vec::new(),
        style: Style::PLAIN,
        styles: Vec::new(),
        containers: Vec::new(),
        links: Vec::new(),
        has_gap: false,
        heading: String::new(),
        code: None,
        is_diff: false,
        table: None,
    };
    parser.for_each(|event| writer.event(event));
    writer.flush();
    // Markdown shows nothing for these, but a reader would miss them.
    for (_, text) in definitions {
        writer.text(&text, Style::DIM);
        writer.flush();
    }
    writer.lines
}

impl Writer {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.push_str(&text),
                None => self.text(&text, self.style),
            },
            Event::Code(code) => self.text(&format!("`{code}`"), Style { colour: Some(Colour::Cyan), ..self.style }),
            Event::Html(html) => {
                self.text(html.trim_end_matches('\n'), self.style);
                self.flush();
            }
            Event::InlineHtml(html) => self.text(&html, self.style),
            Event::SoftBreak => self.inline.push(Span::new(" ", self.style)),
            Event::HardBreak => self.inline.push(Span::new("\n", self.style)),
            Event::Rule => {
                self.gap();
                self.inline.push(Span::new("─".repeat(self.room().min(40)), Style::DIM));
                self.flush();
                self.has_gap = true;
            }
            Event::TaskListMarker(is_done) => self.text(if is_done { "☑ " } else { "☐ " }, self.style),
            // Not enabled.
            Event::FootnoteReference(_) | Event::InlineMath(_) | Event::DisplayMath(_) => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        let style = self.style;
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.gap(),
            Tag::Heading { level, .. } => {
                self.gap();
                self.heading = "#".repeat(depth(level));
                self.begin(Style { colour: Some(Colour::Magenta), ..Style::BOLD });
                self.text(&format!("{} ", self.heading), self.style);
            }
            Tag::BlockQuote(_) => {
                self.flush();
                self.gap();
                self.containers.push(Container::Quote);
            }
            Tag::CodeBlock(kind) => {
                self.flush();
                self.gap();
                self.is_diff = matches!(&kind, CodeBlockKind::Fenced(word) if word.starts_with("diff"));
                self.code = Some(String::new());
            }
            Tag::List(first) => {
                self.flush();
                if !self.containers.iter().any(|container| matches!(container, Container::Item(..))) {
                    self.gap();
                }
                self.containers.push(Container::List(first));
            }
            Tag::Item => {
                self.flush();
                self.gap();
                let marker = match self.containers.last_mut() {
                    Some(Container::List(Some(number))) => {
                        *number = number.saturating_add(1);
                        format!("{}. ", number.saturating_sub(1))
                    }
                    _ => "• ".to_owned(),
                };
                self.containers.push(Container::Item(Span::new(marker, Style::of(Colour::Yellow)), false));
            }
            Tag::Emphasis => self.begin(Style { is_italic: true, ..style }),
            Tag::Strong => self.begin(Style { is_bold: true, ..style }),
            Tag::Strikethrough => self.begin(Style { is_struck: true, ..style }),
            Tag::Link { dest_url, .. } => {
                self.links.push((dest_url.into_string(), self.inline.len()));
                self.begin(Style { is_underlined: true, ..style });
            }
            Tag::Image { dest_url, .. } => {
                self.text("image: ", Style::DIM);
                self.links.push((dest_url.into_string(), self.inline.len()));
                self.begin(style);
            }
            Tag::Table(alignments) => {
                self.flush();
                self.gap();
                self.table = Some(Table::new(&alignments));
            }
            Tag::TableHead => self.begin(Style::BOLD),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => {
                self.flush();
                self.has_gap = true;
            }
            TagEnd::Heading(_) => {
                self.flush();
                self.restore();
                self.has_gap = true;
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.containers.pop();
                self.has_gap = true;
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::List(_) => {
                self.containers.pop();
                let is_outer = self.containers.is_empty();
                self.has_gap |= is_outer;
            }
            TagEnd::Item => {
                self.flush();
                // An item without text is shown too.
                if matches!(self.containers.last(), Some(Container::Item(_, false))) {
                    self.push(vec![Line::new()]);
                }
                self.containers.pop();
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => self.restore(),
            TagEnd::Link | TagEnd::Image => self.end_link(),
            TagEnd::TableHead => {
                self.restore();
                self.end_row();
            }
            TagEnd::TableRow => self.end_row(),
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.inline);
                if let Some(table) = &mut self.table {
                    table.cell(cell);
                }
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    let lines = table.lines(self.room());
                    self.push(lines);
                }
                self.has_gap = true;
            }
            _ => {}
        }
    }

    fn end_row(&mut self) {
        if let Some(table) = &mut self.table {
            table.end_row();
        }
    }

    /// The address of a link after its text, unless the text is the address.
    fn end_link(&mut self) {
        self.restore();
        let Some((address, start)) = self.links.pop() else { return };
        let text: String = self.inline.iter().skip(start).map(|span| span.text.as_str()).collect();
        let address = visible::line(&address);
        let bare = address.strip_prefix("mailto:").unwrap_or(&address);
        if text != *address && text != bare && !address.is_empty() {
            let address = format!("{}({address})", if text.is_empty() { "" } else { " " });
            self.inline.push(Span::new(address, Style { is_underlined: false, ..self.style }.dim()));
        }
    }

    fn end_code(&mut self) {
        let code = self.code.take().unwrap_or_default();
        let code = visible::text(&code);
        let room = self.room().saturating_sub(2).max(1);
        let indent = [Span::new("  ", Style::PLAIN)];
        for line in code.trim_end_matches('\n').split('\n') {
            let wrapped = wrap(&[Span::new(line, code_style(line, self.is_diff))], room, Breaks::Anywhere);
            self.push(prefixed(wrapped, &indent, &indent));
        }
        self.has_gap = true;
    }

    fn begin(&mut self, style: Style) {
        self.styles.push(self.style);
        self.style = style;
    }

    fn restore(&mut self) {
        self.style = self.styles.pop().unwrap_or_default();
    }

    fn text(&mut self, text: &str, style: Style) {
        self.inline.push(Span::new(visible::text(text), style));
    }

    /// The columns for text in the open containers.
    fn room(&self) -> usize {
        let used: usize = self.containers.iter().map(Container::columns).sum();
        self.columns.saturating_sub(used).max(LEAST_COLUMNS.min(self.columns))
    }

    /// A blank line before a block, unless it is the first one.
    fn gap(&mut self) {
        if std::mem::take(&mut self.has_gap) && !self.lines.is_empty() {
            self.push(vec![Line::new()]);
        }
    }

    /// Ends the text of a block.
    fn flush(&mut self) {
        let inline = std::mem::take(&mut self.inline);
        if inline.iter().any(|span| !span.text.trim().is_empty()) {
            let lines = wrap(&inline, self.room(), Breaks::Words);
            self.push(lines);
        }
    }

    /// Appends lines inside of the open containers.
    fn push(&mut self, lines: Vec<Line>) {
        for line in lines {
            let mut out = Line::new();
            let is_blank = line.is_empty();
            let most = self.columns.saturating_sub(LEAST_COLUMNS.min(self.columns));
            for container in &mut self.containers {
                let prefix = match container {
                    Container::Quote => Some(Span::new("│ ", Style::DIM)),
                    Container::Item(marker, is_shown) if !*is_shown && (!is_blank || !marker.text.is_empty()) => {
                        *is_shown = true;
                        Some(marker.clone())
                    }
                    Container::Item(marker, _) => {
                        Some(Span::new(" ".repeat(crate::render::wrap::width(&marker.text)), Style::PLAIN))
                    }
                    Container::List(_) => None,
                };
                // What is nested deeper than there is room for is not indented further.
                out.extend(prefix.filter(|prefix| line_width(&out) + crate::render::wrap::width(&prefix.text) <= most));
            }
            out.extend(line);
            self.lines.push(out);
        }
    }
}

impl Container {
    fn columns(&self) -> usize {
        match self {
            Self::Quote => 2,
            Self::Item(marker, _) => crate::render::wrap::width(&marker.text),
            Self::List(_) => 0,
        }
    }
}

fn depth(level: HeadingLevel) -> usize {
    level as usize
}

/// The style of a line of code.
pub(crate) fn code_style(line: &str, is_diff: bool) -> Style {
    match line.as_bytes().first() {
        Some(b'+') if is_diff => Style::of(Colour::Green),
        Some(b'-') if is_diff => Style::of(Colour::Red),
        Some(b'@') if is_diff => Style::of(Colour::Cyan).dim(),
        _ if is_diff => Style::PLAIN,
        _ => Style::of(Colour::Cyan),
    }
}
