import type { StateKind } from '../canonical/conversation.ts';
import { type NameRules, plainNames } from '../canonical/tool-names.ts';

/** Kinds of opaque reasoning state that endpoints of the Messages format make. */
export const stateKinds: readonly StateKind[] = ['signature', 'redacted'];

/** What tools may be called. */
export const toolNames: NameRules = { ...plainNames, maxLength: 128 };
