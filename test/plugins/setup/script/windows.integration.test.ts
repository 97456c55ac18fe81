import { linkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { renderPowershell } from '../../../../plugins/setup/script/render-scripts.ts';
import { type ScriptData, createScriptData } from '../../../../plugins/setup/script/script-data.ts';
import { modelOf } from '../../format/catalog/catalog-fixture.ts';
import { registry, setupHost } from '../fixture.ts';
import { testKey } from './parts-fixture.ts';
import { createComputer, existing, otherScript, setUp, testScript } from './windows-fixture.ts';

describe('setup.ps1', () => {
  it('setup.ps1 sets tools up, changes nothing when it runs again, and takes everything back byte for byte', async () => {
    await using computer = await createComputer();
    computer.write(existing);
    const before = await computer.snapshot();
    const first = await computer.run(setUp);
    expect(first.output).toMatch(/Tool alpha +written +C:\\Users\\me\\\.alpha\\settings\.json\n/);
    expect(first.output).toMatch(/Tool beta +written +C:\\.*config\.toml\n/);
    expect(first).toMatchObject({ code: 0 });
    expect(computer.read('.alpha/settings.json')).toContain(`"key": "${testKey}"`);
    expect(computer.read('.gamma/rc')).toBe(
      `set-colour blue\n# >>> daypass >>>\nset-key ${testKey}\n# <<< daypass <<<\n`,
    );
    expect(computer.machine.registry.get('DAYPASS_API_KEY')).toEqual({ value: testKey, kind: 'String' });
    const written = await computer.snapshot();

    const second = await computer.run(['-Yes']);
    expect(second.output.match(/unchanged/g)).toHaveLength(3);
    expect(await computer.snapshot()).toStrictEqual(written);

    const last = await computer.run(['-Undo', '-Yes']);
    expect(last.output).toMatch(/Tool alpha +restored/);
    expect(last.output).toMatch(
      /Tool gamma +restored +C:\\Users\\me\\\.gamma\\rc, C:\\Users\\me\\\.gamma\\model\.txt$/,
    );
    expect(await computer.snapshot()).toStrictEqual(before);
    for (const { output } of [first, second, last]) expect(output).not.toContain(testKey);
    expect(computer.machine.environment.get('NODE_OPTIONS')).toBe('--require=evil.js');
  });

  it('setup.ps1 sets up every tool of the table and takes it back', async () => {
    const models = [modelOf('large', ['chat', 'messages', 'responses', 'gemini'], { maxInputTokens: 200_000 })];
    const data = { ...(createScriptData(setupHost(models), registry) as ScriptData), keyPrefix: 'dp' };
    const script = renderPowershell(data);
    await using computer = await createComputer();
    computer.machine.environment.set(data.keyVariable, testKey);
    const before = await computer.snapshot();
    const ids = data.tools.map(({ id }) => id);
    const { code, output } = await computer.run(['-Yes', '-Tools', ids], script);
    expect(output.match(/^ {2}\S.* written {2}/gm)).toHaveLength(ids.length);
    expect(code).toBe(0);
    expect((await computer.run(['-Undo', '-Yes'], script)).code).toBe(0);
    expect(await computer.snapshot()).toStrictEqual(before);
  });

  it('setup.ps1 shows changes as a diff without the key, and changes nothing', async () => {
    await using computer = await createComputer();
    computer.write(existing);
    const before = await computer.snapshot();
    const { output } = await computer.run(['-DryRun', ...setUp]);
    expect(output).toContain('\n-\t"gateway": {"url": "http://old.example" },\n+\t"gateway": ');
    expect(output).not.toContain(testKey);
    expect(await computer.snapshot()).toStrictEqual(before);
  });

  it('setup.ps1 keeps what the user has changed since, and names it', async () => {
    await using computer = await createComputer();
    computer.write(existing);
    await computer.run(setUp);
    const text = computer.read('.alpha/settings.json')!;
    computer.write({ '.alpha/settings.json': text.replace('dp/demo', 'mine').replace('dark', 'light') });
    const { output } = await computer.run(['-Undo', '-Yes']);
    expect(output).toMatch(/Tool alpha +cleaned .* \(changed since, and left alone: gateway\.models\.main\)/);
    expect(computer.read('.alpha/settings.json')).toContain('"theme": "light"');
    expect(computer.read('.alpha/settings.json')).not.toContain(testKey);
  });

  it('setup.ps1 ends with 2 for wrong arguments, and asks nothing without a terminal', async () => {
    await using computer = await createComputer();
    expect(await computer.run(['-Tool', 'alpha'])).toMatchObject({
      code: 2,
      output: 'Unknown option "-Tool". Run with -Help for the options.',
    });
    expect(await computer.run(['-Tools', 'alpha'])).toMatchObject({
      code: 1,
      output: 'No terminal is available to ask for confirmation. Pass -Yes to go on without it.',
    });
  });

  it('setup.ps1 never prints a key that came as an argument', async () => {
    await using computer = await createComputer();
    for (const args of [
      [testKey],
      ['-Tools', ['alpha', testKey]],
      ['-KeyFile', testKey],
      ['-Key', 'x'],
      [`--key=${testKey}`],
    ]) {
      const { code, output } = await computer.run(args);
      expect(code).toBe(2);
      expect(output).toMatch(
        /^Other users of this computer can read the arguments of a program\. Set DAYPASS_API_KEY, /,
      );
      expect(output).not.toContain(testKey);
    }
  });

  it('setup.ps1 asks in ISE, which has no console', async () => {
    await using computer = await createComputer();
    computer.machine.hostName = 'Windows PowerShell ISE Host';
    computer.machine.answers.push('no');
    const { output } = await computer.run(['-Tools', 'alpha']);
    expect(output).toMatch(
      /Files that exist are copied to C:\\\S+\\backups first\.\nWrite these settings\? \[Y\/n\]: no\nNothing was changed\.$/,
    );
  });

  it('setup.ps1 refuses a key with a Kelvin sign, which -match takes for a letter', async () => {
    await using computer = await createComputer();
    computer.machine.environment.set('DAYPASS_API_KEY', testKey.replace('b', '\u212A'));
    expect((await computer.run(setUp)).output).toMatch(/has characters that no key of Daypass has/);
    expect(computer.asked).toEqual([]);
  });

  it('setup.ps1 restores variables with their kinds, and an empty one', async () => {
    await using computer = await createComputer();
    for (const before of [
      { value: '%USERPROFILE%\\x', kind: 'ExpandString' },
      { value: '', kind: 'String' },
    ]) {
      computer.machine.registry.set('DAYPASS_API_KEY', before);
      await computer.run(['-Yes', '-Tools', 'beta']);
      expect(computer.machine.registry.get('DAYPASS_API_KEY')?.value).toBe(testKey);
      await computer.run(['-Undo', '-Yes']);
      expect(computer.machine.registry.get('DAYPASS_API_KEY')).toEqual(before);
      computer.machine.environment.set('DAYPASS_API_KEY', testKey);
    }
  });
});

describe('files that cannot be replaced', () => {
  it('files that cannot be replaced stay, with the reason: one that is open, one with two names, a folder', async () => {
    await using computer = await createComputer();
    const { machine } = computer;
    computer.write({ ...existing, '.gamma/model.txt/inside': '' });
    machine.held.add(String.raw`C:\Users\me\.alpha\settings.json`);
    linkSync(machine.real(String.raw`C:\Users\me\.beta\config.toml`), machine.real(String.raw`C:\Users\me\second`));
    const { code, output } = await computer.run(setUp);
    expect(output).toMatch(/Tool alpha +failed .*: another program has it open/);
    expect(output).toMatch(/Tool beta +failed .*: it has more than one name \(hard links\)/);
    expect(output).toMatch(/Tool gamma +failed .*: it is a folder/);
    expect(code).toBe(1);
    expect(computer.read('.alpha/settings.json')).toBe(existing['.alpha/settings.json']);
    expect(Object.keys(await computer.snapshot()).filter((path) => path.includes('setup'))).toEqual([]);
  });

  it('files that cannot be replaced are on record when the record could not be completed after one was replaced', async () => {
    await using computer = await createComputer();
    computer.write(existing);
    const before = await computer.snapshot();
    const record = String.raw`C:\Users\me\AppData\Local\daypass\setup\files\alpha.1`;
    computer.machine.held.add(record);
    expect((await computer.run(['-Yes', '-Tools', 'alpha'])).output).toMatch(
      /Tool alpha +failed .*: another program has it open/,
    );
    expect(computer.read('.alpha/settings.json')).toContain(testKey);
    computer.machine.held.delete(record);
    // The tool has edited its file meanwhile.
    computer.write({ '.alpha/settings.json': computer.read('.alpha/settings.json')!.replace('dark', 'light') });
    expect((await computer.run(['-Undo', '-Yes'])).output).toMatch(/Tool alpha +cleaned/);
    expect(computer.read('.alpha/settings.json')).toBe(before['.alpha/settings.json']!.replace('dark', 'light'));
  });
});

describe('two gateways in setup.ps1', () => {
  it('two gateways in setup.ps1 are taken back in reverse order, and the older one waits for the newer one', async () => {
    await using computer = await createComputer();
    computer.write(existing);
    const before = await computer.snapshot();
    await computer.run(setUp);
    expect((await computer.run(setUp, otherScript)).code).toBe(0);
    const both = computer.read('.alpha/settings.json');
    for (const args of [['-Undo', '-Yes', '-Tools', 'alpha'], setUp]) {
      const { code, output } = await computer.run(args);
      expect(output).toMatch(/Tool alpha +failed.*"other" was set up in it later; take that out first/);
      expect(code).toBe(1);
      expect(computer.read('.alpha/settings.json')).toBe(both);
    }
    expect((await computer.run(['-Undo', '-Yes'], otherScript)).code).toBe(0);
    expect((await computer.run(['-Undo', '-Yes'])).code).toBe(0);
    for (const path of ['.alpha/settings.json', '.beta/config.toml']) expect(computer.read(path)).toBe(before[path]);
  });
});

describe('-Verify', () => {
  it('-Verify asks once per model and format, and says that every tool works', async () => {
    await using computer = await createComputer();
    await computer.run(setUp);
    computer.asked.length = 0;
    const { code, output } = await computer.run(['-Verify']);
    expect(output.split('\n').map((line) => line.replaceAll(/ +/g, ' '))).toEqual(
      ['alpha', 'beta', 'gamma'].map((id) => ` Tool ${id} works dp/demo, 0.0 s`),
    );
    expect(code).toBe(0);
    expect(computer.asked.map(({ path }) => path)).toEqual(['/v1/messages']);
  });

  it('-Verify says which settings have changed', async () => {
    await using computer = await createComputer();
    computer.write(existing);
    await computer.run(setUp);
    computer.write({
      '.alpha/settings.json': '{ "gateway": { "url": "x" }, "theme": "dark" }',
      '.beta/config.toml': '= broken',
      '.gamma/model.txt': 'gpt',
      '.gamma/rc': computer.read('.gamma/rc')!.replaceAll('\n', '\r\n'),
    });
    computer.machine.registry.delete('DAYPASS_API_KEY');
    const { code, output } = await computer.run(['-Verify']);
    expect(output).toMatch(
      /Tool alpha +failed +settings changed: gateway\.url, gateway\.key, .*\. Run the setup again to restore them/,
    );
    expect(output).toMatch(
      /Tool beta +failed +settings changed: C:\\\S+config\.toml cannot be read \(.*\), the variable DAYPASS_API_KEY\./,
    );
    expect(output).toMatch(/Tool gamma +failed +settings changed: C:\\\S+model\.txt\./);
    expect(code).toBe(1);
  });

  it('-Verify says which settings are older than the catalog', async () => {
    await using computer = await createComputer();
    await computer.run(setUp);
    const renamed = testScript.replaceAll('set-key @KEY@', 'set-key now/@KEY@');
    const { code, output } = await computer.run(['-Verify'], renamed);
    expect(output).toMatch(
      /Tool gamma +outdated +its settings are not those that https:\/\/ai\.example gives now\. Run the setup again to update them/,
    );
    expect(output).toMatch(/Tool alpha +works/);
    expect(code).toBe(1);
    expect((await computer.run(['-Verify', '-Model', 'dp/demo'], renamed)).output).not.toContain('outdated');
  });

  it('-Verify asks for each of two models whose names differ in case', async () => {
    await using computer = await createComputer();
    const script = testScript
      .replaceAll('"name":"dp/other"', '"name":"dp/DEMO"')
      .replaceAll('"small":"dp/other"', '"small":"dp/demo"');
    await computer.run(['-Yes', '-Tools', 'alpha', '-Model', 'dp/DEMO'], script);
    await computer.run(['-Yes', '-Tools', 'gamma'], script);
    computer.asked.length = 0;
    await computer.run(['-Verify'], script);
    expect(computer.asked.map(({ body }) => (JSON.parse(body) as { model: string }).model)).toEqual([
      'dp/DEMO',
      'dp/demo',
    ]);
  });
});

describe('without Node.js, Bun and Deno', () => {
  it('setup without a runtime creates files and variables, shows what must be added to files that exist, and takes back just that', async () => {
    await using computer = await createComputer();
    computer.write({ '.alpha/settings.json': existing['.alpha/settings.json']! });
    computer.machine.programs.clear();
    const before = await computer.snapshot();
    const { code, output } = await computer.run(setUp);
    expect(code).toBe(0);
    expect(output).toMatch(
      /Put these settings into C:\\\S+settings\.json \(json\), in place of those that it has, with your API key for YOUR_KEY:\n {4}\{"gateway"/,
    );
    expect(output).not.toContain(testKey);
    expect(computer.read('.alpha/settings.json')).toBe(existing['.alpha/settings.json']);
    expect(computer.read('.beta/config.toml')).toContain('model = "dp/demo"');
    expect(computer.read('.gamma/rc')).toBe(`# >>> daypass >>>\nset-key ${testKey}\n# <<< daypass <<<\n`);
    expect(computer.machine.registry.get('DAYPASS_API_KEY')).toEqual({ value: testKey, kind: 'String' });
    const undone = await computer.run(['-Undo', '-Yes']);
    expect(undone.code, undone.output).toBe(0);
    expect(await computer.snapshot()).toStrictEqual(before);
    expect((await computer.run(['-Undo', '-Yes'])).output).toBe('Nothing of Daypass is set up on this computer.');
  });

  it('setup.ps1 without a runtime sets up every tool of the table, and takes it back', async () => {
    const models = [modelOf('large', ['chat', 'messages', 'responses', 'gemini'], { maxInputTokens: 200_000 })];
    const data = { ...(createScriptData(setupHost(models), registry) as ScriptData), keyPrefix: 'dp' };
    const script = renderPowershell(data);
    await using computer = await createComputer();
    computer.machine.environment.set(data.keyVariable, testKey);
    computer.machine.programs.clear();
    const before = await computer.snapshot();
    const { code, output } = await computer.run(['-Yes', '-Tools', data.tools.map(({ id }) => id)], script);
    expect(output).not.toMatch(/manual|failed|@[A-Z_]+@/);
    expect(computer.read('.codex/daypass.config.toml')).toContain('model = "dp/large"');
    expect(code).toBe(0);
    expect((await computer.run(['-Undo', '-Yes'], script)).code).toBe(0);
    expect(await computer.snapshot()).toStrictEqual(before);
  });

  it('setup without a runtime leaves a file that was edited since, by name', async () => {
    await using computer = await createComputer();
    computer.machine.programs.clear();
    await computer.run(setUp);
    computer.write({ '.beta/config.toml': `${computer.read('.beta/config.toml')}mine = 1\n` });
    const { code, output } = await computer.run(['-Undo', '-Yes']);
    expect(code).toBe(1);
    expect(output).toMatch(/manual C:\\\S+config\.toml: it was changed since; take the settings of Daypass out/);
    expect(computer.read('.beta/config.toml')).toContain('mine = 1');
    expect(computer.read('.gamma/rc')).toBe(undefined);
  });

  it('setup without a runtime sets up what the program takes back once Node.js is here', async () => {
    await using computer = await createComputer();
    const before = await computer.snapshot();
    computer.machine.programs.clear();
    await computer.run(setUp);
    computer.machine.programs.set('node', [String.raw`C:\Program Files\nodejs\node.exe`]);
    const { code, output } = await computer.run(['-Undo', '-Yes']);
    expect(code, output).toBe(0);
    expect(await computer.snapshot()).toStrictEqual(before);
  });

  it('setup without a runtime says what -Verify needs', async () => {
    await using computer = await createComputer();
    computer.machine.programs.clear();
    expect((await computer.run(['-Verify'])).output).toMatch(/needs Node\.js, Bun or Deno, none of which was found/);
  });
});
