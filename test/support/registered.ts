import { assembleForCommand } from '#core/extension/assembly.ts';
import type { Registry } from '#core/extension/registry.ts';
import type { PluginTables } from '#core/platform/database/tables.ts';
import { createLogger } from '#core/platform/logger.ts';

/** What core and the plugins of this repository register. Nothing is open. */
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

/** Their tables, with what core calls of them within its transactions. */
export async function tablesHere(): Promise<readonly PluginTables[]> {
  return [...(await registeredHere()).databaseTables.values()];
}
