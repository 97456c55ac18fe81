import { hash } from 'node:crypto';
import type { Request, ResponseToolkit, Server } from '@hapi/hapi';
import type { Registry } from '#core/extension/registry.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { quoteAlways } from '../writers.ts';

import { renderPowershell, renderShell } from './render-scripts.ts';
import { scriptData } from './script-data.ts';

/** A script as it is sent. */
export interface SetupScript {
  readonly text: string;
  /** Checksum of the text in UTF-8, in hexadecimal digits. */
  readonly sha256: string;
}

export interface SetupScripts {
  readonly sh: SetupScript;
  readonly ps1: SetupScript;
}

const written = new WeakMap<Host, SetupScripts>();

/** The scripts of this gateway: the same for everybody, written once for each configuration. */
export function scriptsOf(host: Host, gateway: Registry): SetupScripts {
  const scripts = written.get(host) ?? writeScripts(host, gateway);
  written.set(host, scripts);
  return scripts;
}

function writeScripts(host: Host, gateway: Registry): SetupScripts {
  const data = scriptData(host, gateway);
  const sh = data === undefined ? withoutModels(host) : renderShell(data);
  const ps1 = data === undefined ? powershellWithoutModels : renderPowershell(data);
  return { sh: withChecksum(sh), ps1: withChecksum(ps1) };
}

function withChecksum(text: string): SetupScript {
  return { text, sha256: hash('sha256', text) };
}

/** The script of a gateway without models: it says so and fails. */
function withoutModels({ service }: Host): string {
  const name = service.name.replaceAll(/\p{Cc}+/gu, ' ');
  const message = `${name} has no models for tools yet. Run this again once the dashboard lists a model.`;
  return `#!/bin/sh\nprintf '%s\\n' ${quoteAlways(message)} >&2\nexit 1\n`;
}

/** The same for Windows, without the name of the service: the script must be ASCII. */
const powershellWithoutModels =
  "Write-Host 'This gateway has no models for tools yet. Run this again once the dashboard lists a model.'\n" +
  '$global:LASTEXITCODE = 1\n';

/** `GET /setup.sh` and `/setup.ps1`, as text, so that browsers show it. */
export function routeScripts(server: Server): void {
  const serve = (path: string, read: (scripts: SetupScripts) => SetupScript) =>
    server.route({
      method: 'GET',
      path,
      options: { auth: false, state: { parse: false } },
      handler(_request: Request, h: ResponseToolkit) {
        const { text, sha256 } = read(scriptsOf(server.host(), server.gateway));
        return h.response(text).type('text/plain; charset=utf-8').header('cache-control', 'no-cache').etag(sha256);
      },
    });
  serve('/setup.sh', ({ sh }) => sh);
  serve('/setup.ps1', ({ ps1 }) => ps1);
}
