import { Command as Parser, CommanderError } from 'commander';
import { service } from '#core/config/sections/core-sections.ts';
import { type Command, CommandFailed } from '#core/extension/commands/command.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Database } from '#core/platform/database/database.ts';
import { createStageHost } from '../../../core/business/accounts/fixture.ts';
import { hostOf, modelOf } from '../../format/catalog/catalog-fixture.ts';

export interface CommandResult {
  /** 0, 1 failed, 2 usage, 3 not found. */
  readonly exitCode: number;
  readonly output: string;
  readonly error: string;
}

/** A host whose times are in UTC, with the model `gpt-6-sol` and its alias `alias`. */
export function createCommandHost(database: Database, now: number): Host {
  return Object.assign(createStageHost(database), {
    now: () => now,
    catalog: hostOf([modelOf('gpt-6-sol')]).catalog,
    section: (section: unknown) => (section === service ? { time_zone: 'UTC' } : {}),
  }) as Host;
}

/** Runs `gateway WORDS` with this command alone. */
export async function runCommand(command: Command, host: Host, words: readonly string[]): Promise<CommandResult> {
  const lines: string[] = [];
  let error = '';
  const write = { writeOut: (text: string) => lines.push(text), writeErr: (text: string) => (error += text) };
  const program = new Parser('daypass').exitOverride().configureOutput(write);
  command.define(program.command(command.name), {
    withHost: (work) => work(host),
    print: (line) => lines.push(line),
  });
  try {
    await program.parseAsync([command.name, ...words], { from: 'user' });
    return { exitCode: 0, output: lines.join('\n'), error };
  } catch (thrown) {
    const output = lines.join('\n');
    if (thrown instanceof CommandFailed) return { exitCode: thrown.exitCode, output, error: thrown.message };
    if (!(thrown instanceof CommanderError)) throw thrown;
    return { exitCode: thrown.code.includes('help') ? 0 : 2, output, error };
  }
}
