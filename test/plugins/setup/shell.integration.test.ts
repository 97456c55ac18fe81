import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { posix } from '../../../plugins/setup/writers.ts';
import { nasty } from './nasty.ts';

describe('command', () => {
  it('a command reaches its program word by word in a POSIX shell, whatever the words are', () => {
    const words = fc.sample(
      nasty.map((text) => text.replaceAll('\0', '')),
      { numRuns: 200, seed: 1 },
    );
    const command = posix.renderCommand(['printf', '%s\\0', ...words]);
    const output = execFileSync('/bin/sh', ['-c', command], { encoding: 'utf8' });
    expect(output.split('\0').slice(0, -1)).toEqual(words);
  });

  it('a command takes the value of a variable as one word', () => {
    const command = posix.renderCommand(['printf', '%s\\0', { variable: 'A_KEY' }]);
    const output = execFileSync('/bin/sh', ['-c', command], { encoding: 'utf8', env: { A_KEY: `a 'b' $(id)` } });
    expect(output).toBe(`a 'b' $(id)\0`);
  });
});

describe('variables', () => {
  it('variables have their values in a POSIX shell, and the key is read without being printed', () => {
    const lines = posix.renderEnvironment({ variables: { A: `it's $HOME`, B: '' }, key: 'K' }, `Ana's key: `);
    const script = `stty() { :; }\n${lines}\nprintf '%s|' "$A" "$B"; env | grep '^K='`;
    const output = execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8', input: 'dp-secret\n' });
    expect(output).toBe(`Ana's key: \nit's $HOME||K=dp-secret\n`);
  });
});
