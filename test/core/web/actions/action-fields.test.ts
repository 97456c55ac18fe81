import { Eta } from 'eta';
import { describe, expect, it } from 'vitest';
import { amount, defineAction, lines, text, time } from '#core/business/operator-actions/action-kind.ts';
import { describeChoice } from '#core/business/operator-actions/member-describers.ts';
import { boolean, integer, object, string } from '#core/platform/schema.ts';
import {
  describeFields,
  createFieldSchema,
  type FieldSettingsByName,
  readInput,
} from '#core/web/actions/action-fields.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import { viewsFolder } from '#core/web/pages/views.ts';
import { parseFields } from '#core/web/serving/form-input.ts';

const action = defineAction({
  name: 'gate.open',
  subject: { name: 'gate' },
  summary: 'open a gate',
  input: object(['side', 'since', 'until', 'words_id', 'count'], {
    side: { enum: ['left', 'right'] },
    since: time,
    until: time,
    count: integer({ minimum: 1, maximum: 9 }),
    price: amount('What it costs.'),
    label: text('Its name.', 60),
    words_id: lines('What is said.', 300),
    mail: boolean('Whether it is mailed.'),
  }),
  tells: { side: describeChoice('side') },
  perform: () => Promise.resolve(),
});

const texts: Readonly<Record<string, string>> = {
  'operator.act.gate.open.count': 'How many',
  'operator.field.gate.count': 'Count',
  'operator.field.gate.price': 'Price',
  'operator.field.gate.price_hint': 'In rupiah.',
  'operator.field.label': 'Label',
  'side.left': 'Left',
  'operator.act.gate.open.side.right': 'Right',
  'operator.choose': 'Choose',
};
const request = (values: Readonly<Record<string, string>> = {}) =>
  ({
    t: (key: string) => texts[key] ?? key,
    form: { values, errors: {} },
    format: { timeZone: 'Asia/Jakarta' },
    host: { database: { query: () => Promise.resolve([{ at: 0 }]) } },
  }) as unknown as PageRequest;
const fields = (wishes?: FieldSettingsByName, values?: Readonly<Record<string, string>>) =>
  describeFields(request(values), action, wishes);
const field = (name: string, wishes?: FieldSettingsByName, values?: Readonly<Record<string, string>>) =>
  fields(wishes, values)
    .flat()
    .find((one) => one.name === name);

describe('the fields of a form', () => {
  it('are those of the schema, in its order, with a control for each type', () => {
    expect(
      fields()
        .flat()
        .map(({ name, control }) => `${name}: ${control}`),
    ).toEqual([
      'side: choice',
      'since: time',
      'until: time',
      'count: number',
      'price: money',
      'label: line',
      'words_id: lines',
      'mail: check',
    ]);
  });

  it('stand side by side where two are narrow and alike', () => {
    expect(fields().map((row) => row.length)).toEqual([1, 2, 1, 1, 1, 1, 1]);
  });

  it('have the most particular of their texts, and their own name without any', () => {
    expect(['count', 'price', 'label', 'mail'].map((name) => field(name)?.label)).toEqual([
      'How many',
      'Price',
      'Label',
      'mail',
    ]);
    expect([field('price')?.hint, field('count')?.hint]).toEqual(['In rupiah.', '']);
  });

  it('offer the values of an enum, and none of them where none is chosen', () => {
    const sides = [
      { value: 'left', label: 'Left' },
      { value: 'right', label: 'Right' },
    ];
    expect(field('side')?.options).toEqual([{ value: '', label: 'Choose' }, ...sides]);
    expect(field('side', { side: { value: 'left' } })).toMatchObject({ value: 'left', options: sides });
  });

  it('leave out what the page knows, and keep what was sent', () => {
    expect(field('count', { count: false })).toBeUndefined();
    expect(field('count', { count: { value: 3 } }, { count: 'x' })?.value).toBe('x');
    expect(field('since', { since: { value: '2026-11-22T13:00:00.000Z' } })?.value).toBe('2026-11-22T20:00');
  });

  it('are required as the schema says, and an amount always: left out, commands and the API read it as all', () => {
    const required = fields()
      .flat()
      .filter(({ isRequired }) => isRequired);
    expect(required.map(({ name }) => name)).toEqual(['side', 'since', 'until', 'count', 'price', 'words_id']);
  });
});

const parse = (values: Readonly<Record<string, string>>) =>
  parseFields(values, createFieldSchema(action.input, [], [])) as Readonly<Record<string, unknown>>;

describe('the template of fields', () => {
  it('prints the bounds that a schema has, and no others', () => {
    const input = object({ most: integer({ minimum: 2 }), any: integer({}), name: string({}), said: lines('x', 90) });
    const rows = describeFields(request(), { name: 'gate.open', input });
    const html = new Eta({ views: viewsFolder }).render('/parts/fields', { rows, form: { values: {}, errors: {} } });
    expect(html).not.toContain('undefined');
    expect(html.match(/(?:min|max|maxlength)="\d+"/g)).toEqual(['min="2"', 'maxlength="90"']);
  });
});

describe('what a browser sends', () => {
  const span = { since: '2026-11-22T20:00', until: '2026-11-22T21:00' };
  const sent = { side: 'left', ...span, count: '2', price: '30.000', words_id: 'Halo.', label: '' };

  it('becomes the input of the action, in the order of its schema', async () => {
    const input = await readInput(action.input, parse({ ...sent, mail: 'true' }), request());
    expect(Object.entries(input)).toEqual([
      ['side', 'left'],
      ['since', '1970-01-01T00:00:00.000Z'],
      ['until', '1970-01-01T00:00:00.000Z'],
      ['count', 2],
      ['price', 30_000],
      ['words_id', 'Halo.'],
      ['mail', true],
    ]);
  });

  it.each([
    [{ ...sent, side: 'up' }, 'side', 'form.invalid'],
    [{ ...sent, count: '10' }, 'count', 'form.number'],
    [{ ...sent, price: '' }, 'price', 'form.required'],
    [{ ...sent, label: 'x'.repeat(61) }, 'label', 'form.too_long_for'],
  ])('is refused with a message at its field: %o', (values, name, message) => {
    expect(() => parse(values)).toThrow(expect.objectContaining({ fields: { [name]: message } }));
  });

  it.each(['0', 'all of it', '30.00'])('is no amount: %s', async (price) => {
    await expect(readInput(action.input, parse({ ...sent, price }), request())).rejects.toMatchObject({
      fields: { price: 'operator.amount_invalid' },
    });
  });
});

describe('what a browser sends', () => {
  const sent = { side: 'left', count: 3, label: 'x' };

  it('counts only where the form offers it', async () => {
    const input = await readInput(action.input, sent, request(), { count: false, label: {} });
    expect(input).toEqual({ side: 'left', label: 'x' });
    expect(await readInput(action.input, sent, request())).toEqual(sent);
  });

  it('is refused with a message at a field that only this subject needs', async () => {
    await expect(readInput(action.input, sent, request(), { words_id: { isRequired: true } })).rejects.toMatchObject({
      fields: { words_id: 'form.required' },
    });
  });
});
