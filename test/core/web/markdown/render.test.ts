import { describe, expect, it } from 'vitest';
import { maxPageBytes } from '#core/web/markdown/page-text.ts';
import { renderMarkdown } from '#core/web/markdown/render.ts';
import { RenderedMarkdown } from '#core/web/markdown/rendered-markdown.ts';

const html = (text: string) => RenderedMarkdown.htmlOf(renderMarkdown(text)).trim();

describe('HTML in Markdown', () => {
  it.each([
    '<script>alert(1)</script>',
    'a <img src=x onerror=alert(1)> b',
    '<a href="javascript:alert(1)">x</a>',
    '<div\nonclick="x()">',
    '`<b>`',
    '    <b>',
    '[<i>](https://a.test)',
    '![<b onload=x>](x.png)',
    '| <b> | x |\n|---|---|\n| <i> | y |',
    'a <kbd> b <svg/onload=alert(1)> c',
    '<pre> and <a/href="javascript:alert(1)">x</a>',
    'x <script> <form/action="//a.test"> "&"',
    '| <code> <svg/onload=x> |\n|---|\n| x |',
  ])('is text: %s', (text) => {
    const known =
      /<\/?(?:p|pre|code|a|div|table|thead|tbody|tr|th|td)(?: (?:href|class|tabindex|role|aria-label|scope)="[^"<>]*")*>/g;
    expect(html(text).replaceAll(known, '')).not.toMatch(/[<>]/);
  });

  it('is left out where it is a comment', () => {
    expect(html('a\n\n<!-- for later -->\n\nb')).toBe('<p>a</p>\n<p>b</p>');
  });

  it.each([
    ['<!-- a --> Money <b> back', 'Money &#60;b&#62; back'],
    ['<!-- a --><!-- b -->', ''],
    ['x <!-- a --> y', '<p>x  y</p>'],
    ['<!-- without an end\n\nx', ''],
  ])('hides no text around a comment: %j', (text, expected) => {
    expect(html(text)).toBe(expected);
  });
});

describe('links', () => {
  it.each([
    ['https://a.test/x?y=1&z=2', 'https://a.test/x?y=1&#38;z=2'],
    ['mailto:a@b.test', 'mailto:a@b.test'],
    ['/refunds', '/refunds'],
    ['#use', '#section-use'],
  ])('lead to %s', (target, href) => {
    expect(html(`[x](${target})`)).toBe(`<p><a href="${href}">x</a></p>`);
  });

  it.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'java&#115;cript:alert(1)',
    'data:text/html,x',
    'http://a.test',
    '//a.test',
    '/\\a.test',
    'https:a.test',
    'vbscript:x',
    'terms.en.md',
    ' javascript:x',
  ])('are text where they would lead to %s', (target) => {
    expect(html(`[x](<${target}>)`)).toBe('<p>x</p>');
  });

  it('are made of addresses in the text', () => {
    expect(html('See https://a.test or a@b.test.')).toBe(
      '<p>See <a href="https://a.test">https://a.test</a> or <a href="mailto:a@b.test">a@b.test</a>.</p>',
    );
  });
});

const levels = (text: string) => [...html(text).matchAll(/<h(\d)/g)].map(([, level]) => Number(level));

describe('headings', () => {
  it.each([
    ['# a\n## b\n# c', [2, 3, 2]],
    ['## a\n### b', [2, 3]],
    ['#### a\n##### b', [2, 3]],
    ['## a\n##### b\n## c', [2, 3, 2]],
    ['### a\n## b', [2, 2]],
  ])('begin at h2 and skip no level: %j', (text, expected) => {
    expect(levels(text)).toEqual(expected);
  });

  it('have ids that differ', () => {
    const ids = [...html('## Main\n## Main\n## Ketentuan & hak').matchAll(/id="([^"]+)"/g)].map(([, id]) => id);
    expect(ids).toEqual(['section-main', 'section-main-1', 'section-ketentuan-hak']);
  });
});

it('a table scrolls in a region with the names of its columns', () => {
  expect(html('| Days | Price |\n|---|---:|\n| 7 | Rp 95.000 |')).toBe(
    '<div class="table" tabindex="0" role="region" aria-label="Days, Price"><table>\n' +
      '<thead><tr><th scope="col">Days</th><th scope="col" class="number">Price</th></tr></thead>\n' +
      '<tbody><tr><td>7</td><td class="number">Rp 95.000</td></tr>\n</tbody>\n</table></div>',
  );
});

it('nothing but rendered Markdown is printed as HTML', () => {
  expect(['<b>', undefined, { html: '<b>' }].map((value) => RenderedMarkdown.htmlOf(value))).toEqual(['', '', '']);
});

it('a file of the largest size is rendered', () => {
  const part =
    '## Part\n\nText with *words* and [links](https://a.test).\n\n- one\n- two\n\n| a | b |\n|---|---|\n| c | d |\n\n';
  const rendered = html(part.repeat(maxPageBytes / part.length));
  expect(rendered.match(/<h2/g)).toHaveLength(Math.floor(maxPageBytes / part.length));
});
