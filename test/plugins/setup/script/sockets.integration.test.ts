import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { sendJson } from './parts-fixture.ts';
import { createSandbox, type Sandbox, sampleTool } from './sandbox.ts';
import { shellsInTurn } from './shells.ts';

const profile = (text: string) => ({ kind: 'file', format: 'toml', path: '~/.coder/daypass.toml', text }) as const;
const tool = {
  ...sampleTool('coder', []),
  variants: [
    {
      features: ['co', 'co-same', 'n', 'n-same'],
      actions: [profile('model = "@MODEL@"\nkey = "@KEY@"')],
      withSockets: [profile('model = "@MODEL@"\nkey = "@KEY@"\nsupports_websockets = true')],
    },
  ],
};

type Upgrade = (socket: Duplex) => void;
const accepts: Upgrade = (socket) => {
  socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
};
const refuses: Upgrade = (socket) => socket.end('HTTP/1.1 426 Upgrade Required\r\nContent-Length: 0\r\n\r\n');
const isSilent: Upgrade = () => undefined;

const turn = shellsInTurn();
const opened: { server: Server; sockets: Set<Duplex>; sandbox: Sandbox }[] = [];
afterEach(async () => {
  for (const { server, sockets, sandbox } of opened.splice(0)) {
    for (const socket of sockets) socket.destroy();
    server.close();
    await sandbox[Symbol.asyncDispose]();
  }
});

/** A home for a gateway that treats upgrades like this. */
async function homeWith(upgrade: { now: Upgrade }) {
  const seen: string[] = [];
  const sockets = new Set<Duplex>();
  const server = createServer((request, response) => {
    if (request.url === '/v1/key') sendJson(response, 200, { object: 'key', active_period: { active: true } });
    else sendJson(response, 200, { object: 'list', data: [{ id: 'dp/demo' }, { id: 'dp/other' }] });
  });
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.on('upgrade', ({ url, headers }, socket) => {
    socket.on('error', () => undefined);
    seen.push(`${url} ${headers.authorization?.slice(0, 9)} ${headers['sec-websocket-version']}`);
    upgrade.now(socket);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sandbox = await createSandbox({
    shell: turn.next().value,
    tools: [tool],
    data: { baseUrl },
    commands: ['coder'],
  });
  opened.push({ server, sockets, sandbox });
  return { sandbox, seen };
}

describe('WebSockets in the settings of a tool', () => {
  it('are written after a 101 at the public address, stay by a second run, and go with an undo', async () => {
    const { sandbox, seen } = await homeWith({ now: accepts });
    const before = await sandbox.snapshot();
    expect((await sandbox.run('--yes')).stdout).toContain('written');
    expect(await sandbox.read('.coder/daypass.toml')).toContain('supports_websockets = true');
    expect(new Set(seen)).toEqual(new Set(['/v1/responses Bearer dp 13']));
    expect((await sandbox.run('--yes')).stdout).toContain('unchanged');
    await sandbox.run('--undo --yes');
    expect(await sandbox.snapshot()).toEqual(before);
  });

  it.each([
    ['refused', refuses],
    ['cut', (socket: Duplex) => socket.destroy()],
  ] as const)('are not written where the upgrade is %s', async (_, upgrade) => {
    const { sandbox, seen } = await homeWith({ now: upgrade });
    await sandbox.run('--yes');
    expect(await sandbox.read('.coder/daypass.toml')).not.toContain('websockets');
    expect(seen.length).toBeGreaterThan(0);
  });

  it('are not written where nothing answers the upgrade for five seconds', async () => {
    const { sandbox } = await homeWith({ now: isSilent });
    await sandbox.run('--yes');
    expect(await sandbox.read('.coder/daypass.toml')).not.toContain('websockets');
  });

  it('are taken out by a run that finds them refused, and verify takes either for up to date', async () => {
    const upgrade = { now: accepts };
    const { sandbox } = await homeWith(upgrade);
    await sandbox.run('--yes');
    upgrade.now = refuses;
    expect((await sandbox.run('--verify')).stdout).toMatch(/Tool coder +failed/);
    await sandbox.run('--yes');
    expect(await sandbox.read('.coder/daypass.toml')).not.toContain('websockets');
    upgrade.now = accepts;
    expect((await sandbox.run('--verify')).stdout).toMatch(/Tool coder +failed/);
  });
});
