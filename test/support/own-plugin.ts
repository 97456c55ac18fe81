import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { GatewayPlugin } from '#core/extension/plugin.ts';

const indexOf = (name: string) => join(import.meta.dirname, '..', '..', 'plugins', name, 'index.ts');

/** `npm run check:deletion` removes one plugin at a time. */
export function hasPlugin(name: string): boolean {
  return existsSync(indexOf(name));
}

/** Serves tests that concern several plugins and belong to none. */
export async function ownPlugin(name: string): Promise<GatewayPlugin> {
  const { plugin } = (await import(pathToFileURL(indexOf(name)).href)) as { plugin: GatewayPlugin };
  return plugin;
}
