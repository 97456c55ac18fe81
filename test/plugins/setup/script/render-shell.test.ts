import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderShell } from '../../../../plugins/setup/script/render-shell.ts';
import { type ScriptData, scriptData } from '../../../../plugins/setup/script/script-data.ts';
import { modelOf } from '../../format/catalog/catalog-fixture.ts';
import { registry, setupHost } from '../fixture.ts';
import { nasty } from '../nasty.ts';

const dataOf = (...host: Parameters<typeof setupHost>) => scriptData(setupHost(...host), registry) as ScriptData;
const rendered = renderShell(dataOf([modelOf('large'), modelOf('large-mini')]));

describe('setup.sh', () => {
  it('ends with the only call, in a group, so that half a script does nothing', () => {
    expect(rendered.endsWith('\nmain "$@"\n}\n')).toBe(true);
    expect(rendered.match(/^main "\$@".*$/gm)).toEqual(['main "$@"']);
  });

  it('says at its start what is in it, in this order', () => {
    const [head = '', body = ''] = rendered.split(/(?<=\n#\n# shellcheck .*\n)/);
    const listed = [...head.matchAll(/^# {3}(\S+) {2,}[A-Z].*\.$/gm)].map(([, name]) => name);
    expect(listed.length).toBeGreaterThan(30);
    expect(listed.slice(1)).toEqual([...body.matchAll(/^# --- (\S+)$/gm)].map(([, name]) => name));
    expect(body.indexOf('\nconfigure() {')).toBeLessThan(body.indexOf('\n# --- main.sh\n'));
    expect(listed.slice(0, 3)).toEqual(['configure', 'main.sh', 'options.sh']);
  });

  it('tells the reader in comments alone, whatever the service is called', () => {
    fc.assert(
      fc.property(nasty, (name) => {
        const text = renderShell(dataOf([modelOf('large')], { name: `${name}x` }));
        const [head = ''] = text.split('\n{\n');
        expect(head.split(/\r\n|\r|\n/).filter((line) => line !== '' && !line.startsWith('#'))).toEqual([]);
      }),
      { numRuns: 50 },
    );
  });

  it('offers no model whose name a shell or a settings file reads as something else', () => {
    fc.assert(
      fc.property(nasty, (id) => {
        const { models } = dataOf([modelOf('large'), modelOf(`x${id}`)], {}, { model: `x${id}` });
        expect(models.every(({ name }) => /^[A-Za-z0-9][\w./:@+-]*$/.test(name))).toBe(true);
      }),
    );
  });

  it('keeps apart what looks like a placeholder', () => {
    expect(dataOf([modelOf('large'), modelOf('a@KEY@')]).models.map(({ name }) => name)).toEqual(['dp/large']);
  });

  it('has a URL of plain characters, whatever gateway.yaml says', () => {
    fc.assert(
      fc.property(nasty, (path) => {
        const { baseUrl } = dataOf([modelOf('large')], { baseUrl: `https://ai.example/${path}` });
        expect(baseUrl).toMatch(/^https:\/\/ai\.example[\w.:/~%[\]-]*$/);
      }),
    );
  });
});
