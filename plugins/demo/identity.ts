import { randomBytes } from 'node:crypto';

/** What makes an answer this one: the ids of its parts are derived from it. */
export interface Identity {
  readonly id: string; // letters and digits
  readonly created: number; // epoch seconds
}

export function createIdentity(): Identity {
  return { id: `demo${randomBytes(10).toString('hex')}`, created: Math.floor(Date.now() / 1000) };
}

/** Stands in for the opaque state that real models attach to their reasoning. */
export function opaqueState(id: string): string {
  return Buffer.from(`reasoning of the demo upstream, ${id}`).toString('base64');
}
