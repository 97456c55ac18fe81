import { once } from 'node:events';
import { lstat, unlink, utimes } from 'node:fs/promises';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import { createListenRefusal } from '#core/platform/errors/start-refused.ts';
import { hungWork } from '#core/platform/hung-work.ts';
import { waitForFirst, notSettled } from '#core/platform/timing/deadline.ts';
import { resolveListenAddress } from '../http/accept.ts';
import { formatOperatorAddress, type OperatorAddress } from './address.ts';

const privateMask = 0o177; // only the gateway's user can connect
const diskTimeoutMs = 500;

/**
 * Opens the listener. Replaces a socket file left by a killed gateway, but not the file of a running process.
 *
 * @throws StartRefused with the address and the remedy
 */
export async function openListener(server: Server, address: OperatorAddress): Promise<void> {
  try {
    const resolvedAddress =
      'path' in address ? address : { ...address, host: await resolveListenAddress(address.host) };
    await tryToListen(server, resolvedAddress).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE' || !('path' in address) || !(await isAbandoned(address.path))) throw error;
      await unlink(address.path);
      await tryToListen(server, address);
    });
  } catch (error) {
    const setting = 'path' in address ? 'operator.socket' : 'operator.port';
    throw createListenRefusal(`${formatOperatorAddress(address)} for the operator`, setting, error);
  }
}

/**
 * Checks that the disk of the socket file responds, because closing the listener removes the file on the event loop thread. If the disk does
 * not respond, the file is left, and the next start replaces it.
 */
export async function isDiskResponsive(address: OperatorAddress): Promise<boolean> {
  if (!('path' in address)) return true;
  const now = new Date();
  const work = {};
  hungWork.add(work);
  const touch = utimes(address.path, now, now)
    .catch(() => undefined)
    .finally(() => hungWork.delete(work));
  return (await waitForFirst([touch], diskTimeoutMs)) !== notSettled;
}

async function tryToListen(server: Server, address: OperatorAddress): Promise<void> {
  const listening = once(server, 'listening');
  // Node binds a path before `listen` returns, so no other file gets these permissions.
  const mask = 'path' in address ? process.umask(privateMask) : undefined;
  try {
    server.listen(address);
  } finally {
    if (mask !== undefined) process.umask(mask);
  }
  await listening;
}

async function isAbandoned(path: string): Promise<boolean> {
  if (!(await lstat(path)).isSocket()) return false;
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED';
  } finally {
    socket.destroy();
  }
}
