import { expect, it } from 'vitest';
import { parsePageText } from '#core/web/markdown/page-text.ts';

const title = (text: string) => parsePageText(text, 'terms').title;

it('the title is in the head, or the first heading, or the name of the file', () => {
  expect(title('---\ntitle: One\n---\n# Two\n')).toBe('One');
  expect(title('\n# Two #\ntext')).toBe('Two');
  expect(title('---\r\ndraft: true\r\n---\r\n\r\n# Two\r\ntext')).toBe('Two');
  expect(title('text\n# Two')).toBe('terms');
});

it('the first heading is not repeated in the body', () => {
  expect(parsePageText('# One\n\ntext\n# Two', 'x').body.trim()).toBe('text\n# Two');
  expect(parsePageText('---\ntitle: Zero\n---\n# One\n', 'x').body.trim()).toBe('# One');
});

it('a version is a text, as it is written', () => {
  expect(
    ['1.10', '2026-12-01', '"7"'].map((version) => parsePageText(`---\nversion: ${version}\n---\n`, 'x').version),
  ).toEqual(['1.10', '2026-12-01', '7']);
});

it('drafts are marked, or have places to fill in', () => {
  expect(parsePageText('---\ndraft: true\n---\n', 'x').isDraft).toBe(true);
  expect(parsePageText('---\ndraft: false\n---\n', 'x').isDraft).toBe(false);
  expect(parsePageText('{{a}} {{ b c }} {{a}} {d} {{}}', 'x').unfilled).toEqual(['{{a}}', '{{ b c }}', '{{}}']);
});

const wrong = (head: string) => parsePageText(`---\n${head}\n---\ntext`, 'x').mistakes.map((one) => one.wrong);

it('a head that cannot be read is a mistake', () => {
  expect(wrong('drafts: true')).toEqual(['has "drafts" in its head']);
  expect(wrong('draft: yes')).toEqual(['has draft: yes']);
  expect(wrong('title: [a]')).toEqual(['has a "title" that is not text']);
  expect(wrong('a: "b')).toEqual(['has a head that is not YAML']);
  expect(wrong('title: "a\\0"')).toEqual(['has a "title" with characters that are not allowed in text']);
  expect(wrong('version: "\\uD83D"')).toEqual(['has a "version" with characters that are not allowed in text']);
  expect(wrong('just text')).toEqual(['has a head without members']);
  expect(wrong('')).toEqual([]);
  expect(parsePageText('---\n---\n# One', 'x')).toMatchObject({ title: 'One', mistakes: [] });
});
