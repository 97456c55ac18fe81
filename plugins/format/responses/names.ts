import type { StateKind } from '../canonical/conversation.ts';

/** Kinds of opaque reasoning state that endpoints of the Responses format make. */
export const stateKinds: readonly StateKind[] = ['encrypted'];
