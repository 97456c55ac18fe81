import { describe, expect, it } from 'vitest';
import { isForm, readForm, replaceFields } from '../../../../plugins/format/request/form.ts';

const type = 'multipart/form-data; boundary=xyz';
const part = (disposition: string, value: string) =>
  `--xyz\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${value}\r\n`;
const read = (...parts: string[]) => readForm(Buffer.from(`${parts.join('')}--xyz--\r\n`, 'latin1'), type);

describe('a form', () => {
  it('has its text fields, and the model in its place', () => {
    const file = part('name="file"; filename="a.wav"', 'x\r\n--xy\r\n\r\n\u0000');
    const form = read(file, part('name="model"', 'dp/ears'), part('name=language', 'id'));
    expect({ ...form.fields }).toEqual({ file: '', model: 'dp/ears', language: 'id' });
    const sent = Buffer.concat(replaceFields(form, { model: 'a-much-longer-name' })).toString('latin1');
    expect(sent).toBe(`${file}${part('name="model"', 'a-much-longer-name')}${part('name=language', 'id')}--xyz--\r\n`);
  });

  it('has other values of fields, each time they occur, and those that it lacks before its parts', () => {
    const form = read(part('name="model"', 'dp/ears'), part('name="user"', 'a'), part('name="user"', 'bb'));
    const values = { user: 'hash', model: 'ears', language: 'id' };
    expect(Buffer.concat(replaceFields(form, values)).toString('latin1')).toBe(
      `${part('name="language"', 'id')}${part('name="model"', 'ears')}${part('name="user"', 'hash')}${part('name="user"', 'hash')}--xyz--\r\n`,
    );
  });

  it('takes a file name for no name of a field', () => {
    const form = read(part('name="file"; filename="a; name=model"', 'gpt'), part('name="model"', 'dp/ears'));
    expect(form.fields['model']).toBe('dp/ears');
  });

  it('may have an empty value, a preamble and a quoted boundary', () => {
    const body = `preamble\r\n${part('name="model"', '')}--xyz--`;
    expect(readForm(Buffer.from(body), 'multipart/form-data; boundary="xyz"').fields['model']).toBe('');
  });

  it.each<[string, readonly string[]]>([
    ['two models', [part('name="model"', 'a'), part('name="model"', 'b')]],
    ['a name that only some parsers read', [part("name*=utf-8''model", 'a')]],
    ['a part with two names', [part('name="model"; name="x"', 'a')]],
    ['a part without a head', ['--xyz\r\nno head']],
    ['another boundary', ['--xyzw\r\n\r\n']],
    ['nothing', ['text']],
  ])('is refused with %s', (_, parts) => {
    expect(() => read(...parts)).toThrow(/The form cannot be read/);
  });

  it('is refused without its end, its boundary, behind a long preamble, or with too many parts', () => {
    const late = `${'-'.repeat(20_000)}\r\n${part('name="model"', 'a')}--xyz--`;
    expect(() => readForm(Buffer.from(late), type)).toThrow(/first boundary/);
    const hidden = part('name="file"', '-'.repeat(20_000)).replace('--xyz', '....');
    const behind = `${hidden}${part('name="model"', 'a')}--xyz--\r\n.`;
    expect(() => readForm(Buffer.from(behind), type)).toThrow(/first boundary/);
    expect(() => readForm(Buffer.from(part('name="model"', 'a')), type)).toThrow(/last boundary|no valid head/);
    expect(() => readForm(Buffer.from('x'), 'multipart/form-data')).toThrow(/no boundary/);
    expect(() => read(...Array.from({ length: 201 }, (_, index) => part(`name="f${index}"`, 'a')))).toThrow(
      /200 parts/,
    );
  });

  it('is known by its content type', () => {
    expect(['Multipart/Form-Data; boundary=a', 'application/json', undefined].map(isForm)).toEqual([
      true,
      false,
      false,
    ]);
  });
});
