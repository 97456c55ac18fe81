import { Eta } from 'eta';
import type { MailDraft, MailLink } from '#core/gateway/mails/mail-kind.ts';
import { toOneLine } from '#core/platform/one-line.ts';

/** Values are plain text, but the closing may contain links. */
export interface MailContent extends MailDraft {
  readonly facts: NonNullable<MailDraft['facts']>;
  readonly language: string;
  readonly service: string;
  readonly greeting: string;
  readonly closing: readonly string[];
}

/*
 * Email addresses do not wrap, and a table column is as wide as its longest word unless it may break anywhere. Each mail client supports
 * only one of the two CSS properties.
 */
const breaksAnywhere = 'overflow-wrap:anywhere;word-break:break-word';
const breaksAtWords = 'overflow-wrap:normal;word-break:normal';

/** All output is escaped. The mail refers to no images or other files, so reading it loads nothing from the network. */
const template = `<!doctype html>
<html lang="<%= it.language %>">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title><%= it.subject %></title></head>
<body style="margin:0;padding:24px;font:16px/1.5 system-ui,sans-serif;color:#1a1a1a;background:#fff">
<div style="max-width:520px;margin:0 auto;${breaksAnywhere}">
<p style="font-weight:600"><%= it.service %></p>
<p><%= it.greeting %></p>
<% for (const paragraph of it.paragraphs) { %><p><%~ it.link(paragraph) %></p>
<% } %><% if (it.facts.length > 0) { %><table style="border-collapse:collapse">
<% for (const [label, value] of it.facts) { %><tr><td style="padding:4px 16px 4px 0;color:#555;vertical-align:top;${breaksAtWords}"><%= label %></td><td style="padding:4px 0"><%~ it.link(value) %></td></tr>
<% } %></table>
<% } %><p style="margin:24px 0"><a href="<%= it.action.url %>" style="padding:10px 16px;border-radius:6px;background:#1a1a1a;color:#fff;text-decoration:none"><%= it.action.label %></a></p>
<% for (const line of it.closing) { %><p style="font-size:13px;color:#555"><%~ it.link(line) %></p>
<% } %></div>
</body>
</html>
`;

const eta = new Eta({ autoEscape: true });
const compiled = eta.compile(template);

export function renderHtml(content: MailContent): string {
  return eta.render(compiled, { ...content, link: (text: string) => insertLinks(text, content.links ?? []) });
}

function insertLinks(text: string, links: readonly MailLink[]): string {
  const [first, ...remainingLinks] = links;
  if (first === undefined) return escapeHtml(text);
  const anchor = `<a href="${escapeHtml(first.url)}" style="color:#026369">${escapeHtml(first.text)}</a>`;
  return text
    .split(first.text)
    .map((part) => insertLinks(part, remainingLinks))
    .join(anchor);
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}

export function renderText({ greeting, paragraphs, facts, action, closing }: MailContent): string {
  const width = Math.max(0, ...facts.map(([label]) => label.length));
  const table = facts.map(([label, value]) => `${`${label}:`.padEnd(width + 2)}${toOneLine(value)}`);
  const blocks = [
    [greeting],
    ...paragraphs.map((paragraph) => [paragraph]),
    table,
    [`${action.label}:`, action.url],
    ['-- ', ...closing],
  ];
  return `${blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}
