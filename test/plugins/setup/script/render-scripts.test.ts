import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderShell } from '../../../../plugins/setup/script/render-scripts.ts';
import { type ScriptData, createScriptData } from '../../../../plugins/setup/script/script-data.ts';
import { modelOf } from '../../format/catalog/catalog-fixture.ts';
import { registry, setupHost } from '../fixture.ts';
import { nasty } from '../nasty.ts';

const dataOf = (...host: Parameters<typeof setupHost>) => createScriptData(setupHost(...host), registry) as ScriptData;
const rendered = renderShell(dataOf([modelOf('large'), modelOf('large-mini')]));

describe('setup.sh', () => {
  it('setup.sh ends with the only call, in a group, so that half a script does nothing', () => {
    expect(rendered.endsWith('\nmain "$@"\n}\n')).toBe(true);
    expect(rendered.match(/^main "\$@".*$/gm)).toEqual(['main "$@"']);
  });

  it('setup.sh has its launcher, what is done without a runtime, and the program in this order', () => {
    const places = [
      '\neach_tool() {',
      '\n# --- The launcher\n',
      '\nfind_runtime() {',
      '\nset_up_by_shell() {',
      '\nwrite_program() {',
    ];
    const found = places.map((text) => rendered.indexOf(text));
    expect(found.every((place) => place > 0)).toBe(true);
    expect(found).toEqual(found.toSorted((one, other) => one - other));
  });

  it('setup.sh has no key, and only ASCII in its program', () => {
    const program = rendered.slice(rendered.indexOf('\nwrite_program() {'));
    expect(/[^\n\x20-\x7e]/.test(program)).toBe(false);
    expect(program).toContain('// --- program/main.mjs\n');
  });

  it('setup.sh tells the reader in comments alone, whatever the service is called', () => {
    fc.assert(
      fc.property(nasty, (name) => {
        const text = renderShell(dataOf([modelOf('large')], { name: `${name}x` }));
        const [head = ''] = text.split('\n{\n');
        expect(head.split(/\r\n|\r|\n/).filter((line) => line !== '' && !line.startsWith('#'))).toEqual([]);
      }),
      { numRuns: 50 },
    );
  });

  it('setup.sh offers no model whose name a shell or a settings file reads as something else', () => {
    fc.assert(
      fc.property(nasty, (id) => {
        const { models } = dataOf([modelOf('large'), modelOf(`x${id}`)], {}, { model: `x${id}` });
        expect(models.every(({ name }) => /^[A-Za-z0-9][\w./:@+-]*$/.test(name))).toBe(true);
      }),
    );
  });

  it('setup.sh leaves a model out whose name looks like a placeholder', () => {
    expect(dataOf([modelOf('large'), modelOf('a@KEY@')]).models.map(({ name }) => name)).toEqual(['dp/large']);
  });

  it('setup.sh has a URL of plain characters, whatever gateway.yaml says', () => {
    fc.assert(
      fc.property(nasty, (path) => {
        const { baseUrl } = dataOf([modelOf('large')], { baseUrl: `https://ai.example/${path}` });
        expect(baseUrl).toMatch(/^https:\/\/ai\.example[\w.:/~%[\]-]*$/);
      }),
    );
  });
});
