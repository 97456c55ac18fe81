import { hash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Server } from '@hapi/hapi';
import { PageError } from '../pages/page-error.ts';
import type { AssetSource } from '../pages/page.ts';

interface Asset {
  readonly content: Buffer;
  readonly version: string;
}

/**
 * The files that browsers load. They are read at startup and kept in memory. An asset's URL contains a hash of its content, so caches may
 * keep the response forever. If a deployment replaces files while the gateway runs, neither the content nor the URL changes.
 */
export class AssetTable {
  readonly #assets: ReadonlyMap<string, Asset>;
  readonly build: string; // hash of all assets, by which a page that stays open across a deployment detects that it is outdated

  private constructor(assets: ReadonlyMap<string, Asset>) {
    this.#assets = assets;
    const versions = [...assets].map(([name, { version }]) => `${name} ${version}`);
    this.build = hash('sha256', versions.join('\n'), 'base64url').slice(0, 12);
  }

  /** @throws Error if a file cannot be read, or if two files have the same name */
  static async load(sources: Iterable<AssetSource>): Promise<AssetTable> {
    const assets = new Map<string, Asset>();
    for (const source of sources) {
      for (const { name, file } of await listFiles(source)) {
        if (assets.has(name)) throw new Error(`asset "${name}" is registered twice`);
        const content = await readFile(file);
        assets.set(name, { content, version: hash('sha256', content, 'base64url').slice(0, 12) });
      }
    }
    return new AssetTable(assets);
  }

  /** @throws Error if there is no asset with this name */
  url(name: string): string {
    const asset = this.#assets.get(name);
    if (asset === undefined) throw new Error(`asset "${name}" not found`);
    return `/assets/${asset.version}/${name}`;
  }

  find(name: string): Asset | undefined {
    return this.#assets.get(name);
  }
}

async function listFiles({ name, path }: AssetSource): Promise<{ name: string; file: string }[]> {
  if (!(await stat(path)).isDirectory()) return [{ name, file: path }];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.eta'))
    .map((entry) => join(entry.parentPath, entry.name));
  const prefix = name === '' ? '' : `${name}/`;
  return files.toSorted().map((file) => ({ name: prefix + relative(path, file).replaceAll('\\', '/'), file }));
}

/**
 * Adds `GET /assets/VERSION/NAME`. Requests for an old version get the current file with `no-cache`, so that a page that stays open across
 * a deployment still finds its script.
 */
export function routeAssets(server: Server, assets: AssetTable): void {
  server.route({
    method: 'GET',
    path: '/assets/{version}/{name*}',
    options: { auth: false, state: { parse: false } },
    handler(request, h) {
      const { version, name } = request.params as { version: string; name: string };
      const asset = assets.find(name);
      if (asset === undefined) throw new PageError(404, 'error.404.text');
      const isCurrent = asset.version === version;
      return h
        .response(asset.content)
        .type(detectType(server, name))
        .etag(asset.version)
        .header('cache-control', isCurrent ? 'public, max-age=31536000, immutable' : 'no-cache');
    },
  });
}

function detectType({ mime }: Server, name: string): string {
  const entry = mime.path(name);
  return 'type' in entry ? entry.type : 'application/octet-stream';
}
