import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { defineSentences, SentenceReader, type Text } from '#core/platform/sentences.ts';
import { describeFaultText } from '#core/web/pages/fault-text.ts';
import { Translator } from '#core/web/texts/translator.ts';

const texts = {
  en: {
    'one.reason.low': '{free} bytes are free, less than {least}. Free some.',
    'one.reason.jobs': { one: '1 job fails ({why})', other: '{count} jobs fail ({why})' },
    'one.reason.refused': 'connection refused',
    'one.title': 'A title',
  },
  id: {
    'one.reason.low': 'Sisa {free} byte, kurang dari {least}. Kosongkan.',
    'one.reason.jobs': '{count} job gagal ({why})',
    'one.reason.refused': 'koneksi ditolak',
    'one.title': 'Judul',
  },
} as const;
const say = defineSentences(texts.en);
const translator = new Translator([texts]);

describe('a sentence of the log', () => {
  it('is English, with its values', () => {
    expect(say('one.reason.low', { free: 1_200, least: 5_000 })).toBe(
      '1200 bytes are free, less than 5000. Free some.',
    );
  });

  it.each([
    [say('one.reason.low', { free: 1_200, least: 5_000 }), 'Sisa 1200 byte, kurang dari 5000. Kosongkan.'],
    [say('one.reason.jobs', { count: 1, why: 'the vendor said so' }), '1 job gagal (the vendor said so)'],
    [say('one.reason.jobs', { count: 7, why: say('one.reason.refused') }), '7 job gagal (koneksi ditolak)'],
  ])('is read on a page in the language of the reader: %s', (sentence, read) => {
    expect(translator.in('id')(sentence)).toBe(read);
    expect(translator.in('en')(sentence)).toBe(sentence);
  });

  it.each(['A title', 'connection refused, and more', 'x'.repeat(100_000)])('is not what others say: %.20s', (text) => {
    expect(translator.in('id')(text)).toBe(text);
  });

  it.each([
    ['route: 503 connection refused.', '503 connection refused'],
    ['route: connection refused (connect ECONNREFUSED […])', 'koneksi ditolak (connect ECONNREFUSED […])'],
    ['key: 401 Incorrect API key', '401 Incorrect API key'],
  ])('is read in a recorded fault: %s', (recorded, read) => {
    expect(describeFaultText(recorded, translator.in('id'))).toBe(read);
  });
});

const root = join(import.meta.dirname, '../../..');
const readTexts = (language: string): Record<string, Text> =>
  Object.assign(
    {},
    ...globSync(`{core,plugins}/**/texts/${language}.json`, { cwd: root }).map(
      (file) => JSON.parse(readFileSync(join(root, file), 'utf8')) as unknown,
    ),
  ) as Record<string, Text>;

it('every sentence of the product is recognised with its values, and differs in Indonesian', () => {
  const [en, id] = [readTexts('en'), readTexts('id')];
  const reader = new SentenceReader(new Map(Object.entries(en)));
  const indonesian = new Translator([{ en, id }]).in('id');
  const reasons = Object.entries(en).filter(([key]) => key.includes('.reason.'));
  expect(reasons.length).toBeGreaterThan(90);
  for (const [key, text] of reasons) {
    for (const count of [1, 2]) {
      const names = [...JSON.stringify(text).matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
      const sentence = defineSentences({ [key]: text })(key, {
        ...Object.fromEntries(names.map((name) => [name, `<${name}>`])),
        count,
      });
      expect(reader.read(sentence)?.key, sentence).toBe(key);
      expect(indonesian(sentence)).not.toBe(sentence);
    }
  }
});
