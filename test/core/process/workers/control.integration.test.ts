import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ControlSocket, sendOrder, type PerformAction } from '#core/process/workers/control.ts';
import { silentLog } from '../../../support/database.ts';

let folder: string;
let open: AsyncDisposableStack;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'daypass-control-'));
  open = new AsyncDisposableStack();
});
afterEach(async () => {
  await open.disposeAsync();
  await rm(folder, { recursive: true, force: true });
});

async function listen(perform: PerformAction, dataFolder = folder): Promise<void> {
  const socket = open.adopt(new ControlSocket(dataFolder, perform, silentLog), (opened) => opened.close());
  await socket.listen();
}

async function give(action: 'restart' | 'stop'): Promise<string[]> {
  const told: string[] = [];
  await sendOrder(folder, action, (line) => told.push(line));
  return told;
}

it('a command to the supervisor is carried out, and its progress is reported', async () => {
  await listen(async (action, tell) => {
    tell(`${action} 1`);
    tell(`${action} 2`);
  });
  expect(await give('restart')).toEqual(['restart 1', 'restart 2']);
});

it('an order that fails says why', async () => {
  await listen(async (_action, tell) => {
    tell('begun');
    throw new Error('a worker has not started');
  });
  await expect(give('restart')).rejects.toThrow('a worker has not started');
});

it('a supervisor that ends in the middle of an order has not done it', async () => {
  await listen(async (_action, tell) => {
    tell('begun');
    await open.disposeAsync();
    await new Promise(() => undefined);
  });
  await expect(give('stop')).rejects.toThrow('exited before it was done');
});

it('an order where no supervisor runs is refused', async () => {
  await expect(give('restart')).rejects.toThrow(`No gateway with workers is running on ${folder}.`);
});

it('a second supervisor on a data folder is refused', async () => {
  await listen(async () => undefined);
  await expect(listen(async () => undefined)).rejects.toThrow(`Another gateway with workers is using ${folder}.`);
});

it('a data folder whose path is too long for a socket is refused with what to do', async () => {
  await expect(listen(async () => undefined, join(folder, 'x'.repeat(90)))).rejects.toThrow(
    'set a shorter data.folder',
  );
});
