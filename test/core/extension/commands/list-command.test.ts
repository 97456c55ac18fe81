import { Command as Parser } from 'commander';
import { expect, it } from 'vitest';
import { defineAction, text, time } from '#core/business/operator-actions/action-kind.ts';
import { addActionOptions, readActionInput } from '#core/extension/commands/action-options.ts';
import { addListCommand } from '#core/extension/commands/list-command.ts';
import { resourceCommand } from '#core/extension/commands/resource-command.ts';
import { createTestHost } from '#core/extension/testing/index.ts';
import { boolean, number, object } from '#core/platform/schema.ts';
import { defineView } from '#core/web/resources/field.ts';
import { defineResource, type ListResult, createReading, renderListJson } from '#core/web/resources/resource.ts';

interface Parcel {
  readonly id: string;
}

/** Runs a command over a resource with these parcels, and returns what it printed and what it asked for. */
async function run(found: ListResult<Parcel>, ...words: string[]) {
  const lines: string[] = [];
  const asked: unknown[] = [];
  const parcels = defineResource({
    name: 'parcel',
    summary: 'list parcels',
    query: object({
      words: text('A part of its name.'),
      late: boolean('Only late ones.'),
      since: time,
      after: text('Id of the last one.'),
    }),
    view: defineView<Parcel>()({ parcel: { type: 'id', of: 'id' } }, ['parcel']),
    none: 'No parcel found.',
    async list(_host, query, { limit }) {
      asked.push({ ...query, limit });
      return found;
    },
  });
  const parser = new Parser('parcel');
  const context = {
    withHost: async <T>(work: (host: ReturnType<typeof createTestHost>) => Promise<T>) => work(createTestHost()),
    print: (line: string) => lines.push(line),
  };
  addListCommand(parser, context, parcels);
  addListCommand(parser, context, parcels, { verb: 'find' });
  await parser.parseAsync(words, { from: 'user' });
  return { lines, asked: asked[0] };
}

it('a list command takes its options from the query, and says where the list goes on', async () => {
  const { lines, asked } = await run({ entries: [{ id: 'p1' }], next: 'p1' }, 'list', '--late', '--limit', '1');
  expect(asked).toEqual({ late: true, limit: 1 });
  expect(lines).toEqual(['parcel', 'p1', '\nmore: --after p1']);
});

it('a list gets its times as the API does, in RFC 3339', async () => {
  const { asked } = await run({ entries: [] }, 'list', '--since', '2026-11-22T20:00+07:00');
  expect(asked).toEqual({ since: '2026-11-22T13:00:00.000Z', limit: 50 });
});

it('a list without pages says how many are left', async () => {
  expect((await run({ entries: [{ id: 'p1' }], total: 3 }, 'list')).lines.at(-1)).toBe('\n2 more: --limit 3');
});

it('a search takes the words of the query as its argument', async () => {
  const { lines, asked } = await run({ entries: [] }, 'find', 'blue one', '--after', 'p0');
  expect(asked).toEqual({ words: 'blue one', after: 'p0', limit: 50 });
  expect(lines).toEqual(['No parcel found.']);
});

const weigh = defineAction({
  name: 'parcel.weigh',
  subject: { name: 'parcel' },
  summary: 'weigh a parcel',
  input: object({
    weight: number({ minimum: 0, maximum: 2.5 }, 'Kilograms.'),
    note: text('Why.'),
  }),
  perform: () => Promise.resolve(),
});
const names = { note: '--reason, --note' };
const inputOf = (...words: string[]) => {
  const silent = { writeErr: () => undefined };
  const parser = addActionOptions(new Parser().exitOverride().configureOutput(silent), weigh, names);
  return readActionInput(weigh, parser.parse(words, { from: 'user' }).opts(), names);
};

it('options of an action are numbers where its input is, under the names that the command gives them', () => {
  expect(inputOf('--weight', '1.25', '--reason', 'asked')).toEqual({ weight: 1.25, note: 'asked' });
  expect(inputOf('--note', 'asked')).toEqual({ note: 'asked' });
});

it.each(['2.51', '-1', 'heavy', '1e3', ''])('an option that is a number refuses "%s"', (weight) => {
  expect(() => inputOf('--weight', weight)).toThrow('It must be a number from 0 to 2.5.');
});

/** Names of the command of a resource with these members in its query, and of its subcommands. */
function namesOf(...members: string[]): string[] {
  const parcels = defineResource({
    name: 'parcel',
    summary: 'list parcels',
    query: object(Object.fromEntries(members.map((name) => [name, text('A part of its name.')]))),
    view: defineView<Parcel>()({}),
    none: 'No parcel found.',
    list: () => Promise.resolve({ entries: [] }),
  });
  const command = resourceCommand(parcels, { description: 'list parcels, and weigh one', actions: [weigh] });
  const parser = new Parser(command.name);
  command.define(parser, { withHost: () => Promise.reject(new Error('not run')), print: () => undefined });
  return [parser.name(), ...parser.commands.map((one) => one.name())];
}

it('a command of a resource lists, searches where the query has words, and has the actions that it is given', () => {
  expect(namesOf('words')).toEqual(['parcel', 'list', 'find', 'weigh']);
  expect(namesOf('about')).toEqual(['parcel', 'list', 'weigh']);
});

it('JSON has the results below the plural of the resource', () => {
  const boxes = defineResource({
    name: 'box',
    plural: 'boxes',
    summary: 'list boxes',
    query: object({}),
    view: defineView<Parcel>()({}),
    none: 'No box found.',
    list: () => Promise.resolve({ entries: [] }),
  });
  expect(JSON.parse(renderListJson(boxes, { entries: [{ id: 'b1' }], next: null }))).toEqual({
    boxes: [{ id: 'b1' }],
    next: null,
  });
  expect(createReading(boxes).path).toBe('/boxes');
});

it('a text that its pattern does not allow is refused with what is expected', async () => {
  const weighed = { ...text('The weight, such as 3 kg.'), pattern: '^\\d+ kg$' };
  const parser = addActionOptions(new Parser('weigh').exitOverride().configureOutput({ writeErr: () => undefined }), {
    input: object({ weight: weighed }),
  });
  await expect(parser.parseAsync(['--weight', 'heavy'], { from: 'user' })).rejects.toThrow(
    'It must be the weight, such as 3 kg.',
  );
});

it('a list that is longer than one call can print says so without an option that would be refused', async () => {
  const entries = Array.from({ length: 1_000 }, (_, index) => ({ id: `p${index}` }));
  expect((await run({ entries, total: 1_200 }, 'list', '--limit', '1000')).lines.at(-1)).toBe('\n200 more');
  expect((await run({ entries: entries.slice(1), total: 1_200 }, 'list')).lines.at(-1)).toBe(
    '\n201 more: --limit 1000',
  );
});
