import { service } from '#core/config/sections/core-sections.ts';
import type { Command } from '#core/extension/commands/command.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Database } from '#core/platform/database/database.ts';
import { createStageHost } from '../../../core/business/accounts/fixture.ts';
import { runOneCommand } from '../../../support/run-one-command.ts';
import { hostOf, modelOf } from '../../format/catalog/catalog-fixture.ts';

/** A host whose times are in UTC, with the model `gpt-6-sol` and its alias `alias`. */
export function createCommandHost(database: Database, now: number): Host {
  return Object.assign(createStageHost(database), {
    now: () => now,
    catalog: hostOf([modelOf('gpt-6-sol')]).catalog,
    section: (section: unknown) => (section === service ? { time_zone: 'UTC' } : {}),
  }) as Host;
}

/** Runs `gateway WORDS` with this command alone. */
export const runCommand = (command: Command, host: Host, words: readonly string[]) =>
  runOneCommand(command, (work) => work(host), words);
