import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Node } from 'web-tree-sitter';
import { renderAsciiJson } from '../../../../plugins/setup/script/launcher-data.ts';
import { renderPowershell } from '../../../../plugins/setup/script/render-scripts.ts';
import { type ScriptData, createScriptData } from '../../../../plugins/setup/script/script-data.ts';
import { modelOf } from '../../format/catalog/catalog-fixture.ts';
import { registry, setupHost } from '../fixture.ts';
import { nasty } from '../nasty.ts';
import { assignedIn, commandsOf, createParser, functionsOf, nodesOf, syntaxErrors } from './powershell-syntax.ts';

const models = [modelOf('large', ['chat', 'messages', 'responses', 'gemini'], { maxInputTokens: 200_000 })];
const dataOf = (name = 'Daypass') => createScriptData(setupHost(models, { name }), registry) as ScriptData;

/**
 * Commands that both Windows PowerShell 5.1 and PowerShell 7 have, with the parameters that are used. This and the next table
 * agree with the profiles of Windows 10 that PSScriptAnalyzer 1.19 has of both.
 */
const cmdlets: Readonly<Record<string, readonly string[]>> = {
  'ConvertFrom-Json': [],
  'ForEach-Object': [],
  'Get-Command': ['-Name', '-CommandType', '-All', '-ErrorAction'],
  'New-Object': [],
  'Read-Host': ['-AsSecureString'],
  'Set-StrictMode': ['-Off'],
  'Where-Object': [],
  'Write-Host': ['-ForegroundColor'],
  'Write-Verbose': [],
};

/** Static members that both .NET Framework 4.6, which Windows PowerShell 5.1 runs on, and .NET 8 have. */
const statics: Readonly<Record<string, readonly string[]>> = {
  Array: ['Reverse'],
  Convert: ['FromBase64String', 'ToBase64String'],
  Console: ['IsInputRedirected'],
  'Diagnostics.Process': ['Start'],
  Environment: [
    'ExpandEnvironmentVariables',
    'GetEnvironmentVariable',
    'GetFolderPath',
    'SetEnvironmentVariable',
    'SystemDirectory',
    'UserInteractive',
  ],
  EnvironmentVariableTarget: ['Process', 'User'],
  'IO.Directory': ['CreateDirectory', 'Delete', 'Exists', 'GetDirectories', 'GetFileSystemEntries', 'GetFiles', 'Move'],
  'IO.File': ['Delete', 'Exists', 'ReadAllBytes', 'WriteAllBytes'],
  'IO.Path': [
    'Combine',
    'GetDirectoryName',
    'GetExtension',
    'GetFileName',
    'GetFullPath',
    'GetTempPath',
    'IsPathRooted',
  ],
  'Microsoft.Win32.Registry': ['CurrentUser'],
  'Microsoft.Win32.RegistryValueOptions': ['DoNotExpandEnvironmentNames'],
  NullString: ['Value'],
  'Security.Principal.WindowsIdentity': ['GetCurrent'],
  StringComparison: ['Ordinal', 'OrdinalIgnoreCase'],
  'Text.Encoding': ['GetEncoding', 'UTF8'],
  guid: ['NewGuid'],
  regex: ['Escape', 'Match', 'Matches', 'Replace', 'Split'],
  string: ['Equals'],
};

/** Variables that PowerShell itself sets. `$IsLinux` and `$IsMacOS` exist in PowerShell 7 only, and are null before. */
const automatic = ['_', 'args', 'env', 'executioncontext', 'false', 'global', 'host', 'islinux', 'ismacos', 'matches'];
const reserved = [
  'error',
  'event',
  'foreach',
  'home',
  'host',
  'input',
  'myinvocation',
  'pid',
  'profile',
  'sender',
  'this',
];

let parse: (text: string) => Node;
let script = '';
let root: Node;
beforeAll(async () => {
  parse = await createParser();
  script = renderPowershell(dataOf());
  root = parse(script);
});

/** The line of JSON in a script, as a PowerShell would read it. */
const carriedData = (text: string): string => /\$json = @'\n(.*)\n'@\n/.exec(text)![1]!;

describe('setup.ps1', () => {
  it('the grammar of PowerShell accepts setup.ps1', () => {
    expect(syntaxErrors(root)).toEqual([]);
    expect(functionsOf(root).length).toBeGreaterThan(30);
  });

  it('the grammar of PowerShell rejects setup.ps1 without one of its braces', () => {
    expect(syntaxErrors(parse(script.slice(0, script.lastIndexOf('}'))))).not.toEqual([]);
  });

  it('setup.ps1 is one block, so that half of it runs nothing and nothing of it stays in the session', () => {
    const statements = root.namedChildren
      .flatMap((child) => child!.namedChildren)
      .filter((child) => child!.type !== 'comment');
    expect(statements.map((one) => one!.text.slice(0, 3))).toEqual(['& {']);
    expect(nodesOf(root, 'scoped_variable').map(({ text }) => text)).toEqual([]);
    expect(script.match(/\$(global|script):\w+/g)).toEqual(['$global:LASTEXITCODE']);
  });

  it('setup.ps1 is plain ASCII with whole here-strings, and carries the data, whatever the service is called', () => {
    fc.assert(
      fc.property(nasty, (name) => {
        const data = dataOf(name);
        const text = renderPowershell(data);
        expect(/[^\n\x20-\x7e]/.test(text)).toBe(false);
        expect(text.match(/^'@/gm)?.length).toBe(text.match(/@'$/gm)?.length);
        expect(JSON.parse(carriedData(text))).toEqual(data);
      }),
      { numRuns: 25 },
    );
  });

  it('setup.ps1 is read the same way whatever the service is called', () => {
    fc.assert(
      fc.property(nasty, (name) => {
        expect(syntaxErrors(parse(renderPowershell(dataOf(name))))).toEqual([]);
      }),
      { numRuns: 3 },
    );
  });

  it('setup.ps1 writes data in one line that cannot end a here-string', () => {
    const data = dataOf();
    fc.assert(
      fc.property(nasty, (service) => {
        expect(renderAsciiJson({ ...data, service })).toMatch(/^\{[\x20-\x7e]*\}$/);
      }),
    );
  });

  it('setup.ps1 knows the place of every file on Windows', () => {
    const files = dataOf().tools.flatMap(({ variants }) => variants[0]!.actions.filter(({ kind }) => kind === 'file'));
    expect(files.filter((file) => !('windows' in file))).toEqual([]);
    const paths = dataOf().tools.flatMap(({ variants }) =>
      variants[0]!.actions.flatMap((action) => (action.kind === 'file' && action.windows) || []),
    );
    expect(paths.length).toBeGreaterThan(12);
    for (const path of paths) expect(path).toMatch(/^%(USERPROFILE|APPDATA)%\\[^/%]+$/);
  });
});

describe('code of setup.ps1', () => {
  it('the code of setup.ps1 calls only its own functions and commands that Windows PowerShell 5.1 has, with parameters that they have', () => {
    const own = new Map(functionsOf(root).map((one) => [one.name, one]));
    const wrong = commandsOf(root).filter(({ name, parameters, count }) => {
      const called = own.get(name);
      if (called !== undefined) return parameters.length > 0 || count > called.parameters.length;
      return cmdlets[name] === undefined || parameters.some((one) => !cmdlets[name]!.includes(one));
    });
    expect(wrong).toEqual([]);
  });

  it('the code of setup.ps1 uses only members of .NET that the oldest and the newest PowerShell have', () => {
    const used = functionsOf(root).flatMap(({ node }) => [...node.text.matchAll(/(?<![`(])\[([\w.]+)\]::(\w+)/g)]);
    expect(used.length).toBeGreaterThan(50);
    expect(used.filter(([, type, member]) => !statics[type!]?.includes(member!)).map(([text]) => text)).toEqual([]);
  });

  it('the code of setup.ps1 has each function once, and calls it', () => {
    const names = functionsOf(root).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    const called = new Set(commandsOf(root).map(({ name }) => name));
    expect(names.filter((name) => !called.has(name))).toEqual([]);
  });

  it('the code of setup.ps1 reads no variable that nothing has set, and sets none of those of PowerShell', () => {
    const shared = assignedIn(root.descendantsOfType('script_block_expression')[0]!);
    const top = ['data', 'session', 'utf8', 'json', 'options', 'program', 'invocation', 'given'];
    expect(top.filter((name) => !shared.has(name))).toEqual([]);
    for (const { name, node } of functionsOf(root)) {
      const known = new Set([...assignedIn(node), ...automatic, ...top, 'null', 'true', 'psversiontable']);
      const read = nodesOf(node, 'variable').map(({ text }) => text.replace(/^\$\{?([\w]+).*$/s, '$1').toLowerCase());
      expect([name, read.filter((one) => !known.has(one))]).toEqual([name, []]);
      expect([name, reserved.filter((one) => assignedIn(node).has(one))]).toEqual([name, []]);
    }
  });

  it('the code of setup.ps1 has no syntax that Windows PowerShell 5.1 lacks', () => {
    const code = functionsOf(root).map(({ node }) => node.text);
    for (const text of code) expect(text).not.toMatch(/\?\?|\?\.|&&|\|\||-AsByteStream|-AsHashtable|-NoProfile|`u\{/);
    expect(nodesOf(root, 'ternary_expression')).toEqual([]);
  });
});
