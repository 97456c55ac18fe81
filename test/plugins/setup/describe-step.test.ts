import { describe, expect, it } from 'vitest';
import { Translator } from '#core/web/texts/translator.ts';
import { describeStep } from '../../../plugins/setup/describe-step.ts';
import type { System } from '../../../plugins/setup/reader.ts';
import en from '../../../plugins/setup/texts/en.json' with { type: 'json' };
import id from '../../../plugins/setup/texts/id.json' with { type: 'json' };
import type { Step } from '../../../plugins/setup/tool.ts';
import type { SetupValues } from '../../../plugins/setup/values.ts';

const t = new Translator([{ en, id }]).in('en');
const values = { key: 'YOUR_KEY', providerId: 'daypass', providerName: 'Daypass' } as SetupValues;
const shown = (step: Step, system: System = 'linux') => describeStep(step, { t, system, values, number: 1 });
const codeIn = (step: Step, system?: System) =>
  shown(step, system).boxes.map(({ pieces }) => pieces.map(({ text }) => text).join(''));

const file: Step = {
  kind: 'file',
  place: { path: '~/.x/x.json', macos: '~/Library/x.json', windows: '%APPDATA%\\x.json' },
  format: 'json',
  settings: { key: 'YOUR_KEY' },
};

describe('step', () => {
  it.each([
    ['linux', '~/.x/x.json'],
    ['macos', '~/Library/x.json'],
    ['windows', '%APPDATA%\\x.json'],
  ] as const)('names the file of %s', (system, path) => {
    expect(shown(file, system).boxes[0]?.label).toBe(path);
  });

  it('a step names the same file below the folder of the user where Windows has no other', () => {
    expect(shown({ ...file, place: { path: '~/.x/x.json' } }, 'windows').boxes[0]?.label).toBe(
      '%USERPROFILE%\\.x\\x.json',
    );
  });

  it('a step keeps what else is in a shared file, and creates a separate one', () => {
    expect(shown(file)).toMatchObject({
      title: 'Add this to the file',
      notes: expect.arrayContaining(['Keep everything else in the file.']),
    });
    const own = shown({ ...file, isDedicated: true });
    expect([own.title, own.notes]).toEqual([
      'Create this file',
      [expect.stringContaining('Replace YOUR_KEY with your key')],
    ]);
  });

  it('a step asks for the key in the words of the reader and the shell of the system', () => {
    const step: Step = { kind: 'environment', key: 'A_KEY' };
    expect(codeIn(step)[0]).toContain(`printf '%s' 'Daypass API key: '; stty -echo; read -r A_KEY`);
    expect(codeIn(step, 'windows')[0]).toContain('$env:A_KEY = ');
    expect(shown(step).title).toBe('Give the terminal your key');
    expect(shown({ ...step, variables: { A: 'b' } }).title).toBe('Set these variables');
  });

  it('a step does not offer the placeholder of the key to be copied', () => {
    const { fields } = shown({ kind: 'form', where: 'Settings', fields: [{ label: 'Key', value: 'YOUR_KEY' }] });
    expect(fields).toEqual([{ id: 'step-1-0', label: 'Key', value: 'Your key', isKey: true }]);
  });

  it('a step has samples with what installs them, in boxes with separate ids', () => {
    const samples = ['Python', 'TypeScript'].map((title) => ({ title, install: 'get it', code: 'run()' }));
    const step: Step = { kind: 'sample', samples };
    expect(codeIn(step)).toEqual(['# get it\nrun()', '// get it\nrun()']);
    expect(new Set(shown(step).boxes.map((box) => box.id)).size).toBe(2);
  });
});
