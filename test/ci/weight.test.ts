import { describe, expect, it } from 'vitest';
import { findOverweightRows, findRooms, findWidespreadWords, weigh, withCeilings } from '../../.ci/weight-rules.ts';

const sources = new Map([
  ['core/business/sales/places.ts', 'one\ntwo\n'],
  ['core/business/payments/gifts.ts', 'a gift\n'],
  ['core/business/payments/settle.ts', 'one\ntwo\nthree\n'],
  ['plugins/vouchers/command.ts', 'Gifts are vouchers\n'],
  ['views/vouchers/vouchers.css', '.gift { margin: 0 }\n'],
]);
const row = (files: number, lines: number, ...of: string[]) => ({ most: { files, lines }, of });
const table = {
  weight: {
    shop: {
      payments: row(1, 3, 'core/business/payments'),
      gifts: row(3, 3, 'core/business/payments/gifts.ts', 'plugins/vouchers', 'views/vouchers'),
      sales: row(1, 2, 'core/business/sales'),
    },
  },
  capability: { files: 2, lines: 3 },
  spread: { gift: 2 },
};
const { shop } = table.weight;

describe('a file', () => {
  it('counts for the row with the longest path to it', () => {
    const { rows, mistakes } = weigh(sources, table);
    expect(mistakes).toEqual([]);
    expect(rows.get('payments')).toEqual({ files: 1, lines: 3 });
    expect(rows.get('gifts')).toEqual({ files: 3, lines: 3 });
  });

  it('of no row is a mistake, and a path without files is noted', () => {
    const { sales: _, ...others } = shop;
    const moved = { ...table, weight: { shop: { ...others, keys: row(1, 1, 'plugins/keys') } } };
    expect(weigh(sources, moved)).toMatchObject({
      mistakes: ['core/business/sales/places.ts: belongs to no row of .ci/weight.yaml'],
      notes: ['.ci/weight.yaml: nothing of "keys" is in plugins/keys any more'],
    });
  });
});

describe('a plugin without a row', () => {
  const views = [
    ['plugins/notices/index.ts', 'one\ntwo\n'],
    ['views/notices/page.eta', 'three\n'],
  ] as const;

  it('passes with its views up to the ceiling of a capability', () => {
    const { rows, mistakes } = weigh(new Map([...sources, ...views]), table);
    expect([rows.get('notices'), mistakes]).toEqual([{ files: 2, lines: 3 }, []]);
    expect(findOverweightRows(rows, table)).toEqual([]);
  });

  it('fails above it', () => {
    const grown = new Map([...sources, ...views, ['plugins/notices/texts.ts', 'four\n']]);
    expect(findOverweightRows(weigh(grown, table).rows, table)).toEqual([
      '"notices" has 3 files instead of 2 and 4 lines instead of 3: make it lighter, or give it a row in .ci/weight.yaml and say why in the commit',
    ]);
  });
});

describe('a row', () => {
  it('passes at its ceiling', () => {
    expect(findOverweightRows(weigh(sources, table).rows, table)).toEqual([]);
  });

  it('fails above its ceiling, with what it has more', () => {
    const grown = new Map([...sources, ['core/business/sales/list.ts', 'three\n']]);
    expect(findOverweightRows(weigh(grown, table).rows, table)).toEqual([
      '"sales" has 2 files instead of 1 and 3 lines instead of 2: make it lighter, or raise its ceiling and say why in the commit',
    ]);
  });
});

const roomsOf = (text: string) => findRooms(new Map([['plugins/mail/layout.ts', text]]), ['margin']).get('margin');

describe('a word', () => {
  it('is named by rooms: folders of a floor, plugins and folders of views, without style sheets', () => {
    expect(findRooms(sources, ['gift', 'margin'])).toEqual(
      new Map([
        ['gift', ['core/business/payments', 'plugins/vouchers']],
        ['margin', []],
      ]),
    );
  });

  it('is not named by CSS declarations in programs, but by members of its name', () => {
    for (const css of ['<p style="margin:0;color:#000">', 'p { margin: 24px 0 }', 'h2 { margin-top: 2mm; }'])
      expect([css, roomsOf(css)]).toEqual([css, []]);
    for (const named of ['{ margin: 0.02 }', 'margin: number;', 'p { margin: 0 } /* the margin */'])
      expect([named, roomsOf(named)]).toEqual([named, ['plugins/mail']]);
  });

  it('in more rooms than its ceiling fails with their names', () => {
    const rooms = findRooms(new Map([...sources, ['plugins/mail/compose.ts', 'gift']]), ['gift']);
    expect(findWidespreadWords(rooms, table)).toEqual([
      '"gift" is named in 3 rooms instead of 2: core/business/payments, plugins/mail, plugins/vouchers',
    ]);
  });
});

it('ceilings are rewritten in place, with comments and order as they were', () => {
  const text =
    '# why\nweight:\n  shop:\n    gifts:\n      most: { files: 1, lines: 9 }\n      of: [x]\nspread:\n  gift: 7\n';
  expect(withCeilings(text, new Map([['gifts', { files: 2, lines: 5 }]]), new Map([['gift', ['a', 'b']]]))).toBe(
    '# why\nweight:\n  shop:\n    gifts:\n      most: { files: 2, lines: 5 }\n      of: [x]\nspread:\n  gift: 2\n',
  );
});
