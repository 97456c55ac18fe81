import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { installServer, quietly } from './install.ts';
import { modelScripts, servers } from './servers.ts';

/** Writes the models with random weights, unless they are there. @returns their folder */
export async function makeModels(cache: string): Promise<string> {
  const folder = join(cache, 'models');
  await mkdir(folder, { recursive: true });
  for (const { script, name, output } of modelScripts) {
    const target = join(folder, output);
    if (existsSync(output === '' ? join(folder, 'tiny-rerank', 'model.safetensors') : target)) continue;
    const packages = servers.find((server) => server.name === name);
    if (packages === undefined) throw new Error(`no packages for ${script}`);
    await quietly(await installServer(cache, packages), [script, target], { timeout: 600_000 });
  }
  return folder;
}
