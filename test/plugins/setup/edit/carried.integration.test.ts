import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderShell } from '../../../../plugins/setup/script/render-shell.ts';
import { hasCommand, pathOf } from '../programs.ts';
import { sampleData } from '../script/sandbox.ts';

/** One file of each format that needs every module of it: lists, quotes, brackets, comments. */
const files = [
  {
    format: 'json',
    current: '{ // mine\n  "list": [{"id": "a"}]\n}\n',
    wanted: '{"list":[{"id":"m","key":"k"}],"A":{"b":1}}',
    options: ['--identity', 'id'],
    after: '{ // mine\n  "list": [{"id": "a"}, {"id": "m", "key": "k"}],\n  "A": {\n    "b": 1\n  }\n}\n',
  },
  {
    format: 'toml',
    current: 'a = {b = ["x"]} # mine\n',
    wanted: 'model = "m"\n\n[t.u]\nkey = "k"\n',
    options: [],
    after: 'a = {b = ["x"]} # mine\nmodel = "m"\n\n[t.u]\nkey = "k"\n',
  },
  {
    format: 'yaml',
    current: 'a: [x, {b: "c"}] # mine\nmodels:\n- id: "a"\n',
    wanted: 'model: "m"\nmodels:\n  - id: "m"\n    key: "k"\n',
    options: ['--identity', 'id'],
    after: 'a: [x, {b: "c"}] # mine\nmodels:\n- id: "a"\n- id: "m"\n  key: "k"\nmodel: "m"\n',
  },
];

const sources = join(import.meta.dirname, '../../../../plugins/setup/script/edit');
let root = '';

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'carried-'));
  const script = renderShell(sampleData('https://ai.example', [])).replace(
    /\nmain "\$@"\n\}\n$/,
    '\nwrite_helper "$@"\n}\n',
  );
  writeFileSync(join(root, 'write.sh'), script);
});
afterAll(() => rmSync(root, { recursive: true }));

describe.each([
  { language: 'node', extension: '.mjs' },
  { language: 'python3', extension: '.py' },
])('the editing helper that setup.sh writes for $language', ({ language, extension }) => {
  let helper = '';
  beforeAll(() => {
    helper = join(root, language);
    mkdirSync(helper);
    const { status, stderr } = spawnSync('sh', [join(root, 'write.sh'), language, helper], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('has the bytes of its sources', () => {
    const names = readdirSync(sources).filter((name) => name.endsWith(extension));
    expect(names.length).toBeGreaterThan(10);
    expect(readdirSync(helper).toSorted()).toEqual(names.toSorted());
    for (const name of names) {
      expect(readFileSync(join(helper, name), 'utf8').trimEnd()).toBe(
        readFileSync(join(sources, name), 'utf8').trimEnd(),
      );
    }
  });

  it.skipIf(!hasCommand(language)).each(files)(
    'puts settings into $format and takes them out again',
    ({ format, current, wanted, options, after }) => {
      const work = join(root, `${language}-${format}`);
      mkdirSync(work);
      const run = (command: string) => {
        const script = join(helper, `edit${extension}`);
        const { status, stdout, stderr } = spawnSync(pathOf(language), [script, command, format, work, ...options], {
          encoding: 'utf8',
        });
        expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
        return readFileSync(join(work, 'after'), 'utf8');
      };
      writeFileSync(join(work, 'current'), current);
      writeFileSync(join(work, 'wanted'), wanted);
      expect(run('apply')).toBe(after);

      writeFileSync(join(work, 'current'), `${after}\n`);
      writeFileSync(join(work, 'previous'), wanted);
      expect(run('remove')).toBe(`${current}\n`);
    },
  );
});
