import { hash } from 'node:crypto';
import type { Request, ResponseToolkit, Server } from '@hapi/hapi';
import { readAbilities } from '#core/config/catalog/abilities.ts';
import type { Registry } from '#core/extension/registry.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { nextPageTurn } from '#core/platform/timing/turn.ts';
import { readDefaults } from '../defaults.ts';
import { scriptedFormats } from '../tools.ts';
import { quoteAlways } from '../writers.ts';
import { renderPowershell, renderShell } from './render-scripts.ts';
import { type ScriptData, createScriptData } from './script-data.ts';

interface SetupScript {
  readonly text: string;
  readonly sha256: string; // hexadecimal, of the text in UTF-8
}

export interface SetupScripts {
  readonly sh: SetupScript;
  readonly ps1: SetupScript;
  readonly data: ScriptData | undefined; // undefined without models
}

const modelsPerTurn = 500;

const scriptCache = new WeakMap<Host, Promise<SetupScripts>>();

/** The scripts are the same for all readers. They are rendered once per configuration, in several turns of the event loop. */
export function readScripts(host: Host, gateway: Registry): Promise<SetupScripts> {
  let scripts = scriptCache.get(host);
  if (scripts === undefined) {
    scripts = renderScripts(host, gateway);
    scriptCache.set(host, scripts);
    scripts.catch(() => scriptCache.delete(host));
  }
  return scripts;
}

async function renderScripts(host: Host, gateway: Registry): Promise<SetupScripts> {
  for (const [index, model] of host.catalog.models.entries()) {
    if (index % modelsPerTurn === 0) await nextPageTurn();
    readAbilities(gateway, model);
  }
  // Fills the caches that `createScriptData` uses, one format per turn of the event loop.
  for (const format of scriptedFormats) {
    await nextPageTurn();
    readDefaults(format, host, gateway);
  }
  await nextPageTurn();
  const data = createScriptData(host, gateway);
  await nextPageTurn();
  const sh = withChecksum(data === undefined ? renderWithoutModels(host) : renderShell(data));
  await nextPageTurn();
  const ps1 = withChecksum(data === undefined ? powershellWithoutModels : renderPowershell(data));
  return { sh, ps1, data };
}

function withChecksum(text: string): SetupScript {
  return { text, sha256: hash('sha256', text) };
}

function renderWithoutModels({ service }: Host): string {
  const name = service.name.replaceAll(/\p{Cc}+/gu, ' ');
  const message = `${name} has no models for tools yet. Run this again once the dashboard lists a model.`;
  return `#!/bin/sh\nprintf '%s\\n' ${quoteAlways(message)} >&2\nexit 1\n`;
}

const powershellWithoutModels =
  // Without the name of the service, because this script must be ASCII.
  "Write-Host 'This gateway has no models for tools yet. Run this again once the dashboard lists a model.'\n" +
  '$global:LASTEXITCODE = 1\n';

/** Served as plain text, so that browsers show the scripts. */
export function routeScripts(server: Server): void {
  const serve = (path: string, read: (scripts: SetupScripts) => SetupScript) =>
    server.route({
      method: 'GET',
      path,
      options: { auth: false, state: { parse: false } },
      async handler(_request: Request, h: ResponseToolkit) {
        const { text, sha256 } = read(await readScripts(server.host(), server.gateway));
        return h.response(text).type('text/plain; charset=utf-8').header('cache-control', 'no-cache').etag(sha256);
      },
    });
  serve('/setup.sh', ({ sh }) => sh);
  serve('/setup.ps1', ({ ps1 }) => ps1);
}
