import { assembleForCommand } from '#core/extension/assembly.ts';
import type { Registry } from '#core/extension/registry.ts';
import type { PluginTables } from '#core/platform/database/tables.ts';
import { createLogger } from '#core/platform/logger.ts';

/** Opens nothing. */
export async function registeredHere(): Promise<Registry> {
  const { registry } = await assembleForCommand(
    undefined,
    createLogger(() => undefined),
    () => {
      throw new Error('nothing is served');
    },
  );
  return registry;
}

/** Includes the steps that core calls within its transactions. */
export async function tablesHere(): Promise<readonly PluginTables[]> {
  return [...(await registeredHere()).databaseTables.values()];
}
