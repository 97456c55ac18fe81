import type { StateKind } from '../canonical/conversation.ts';
import type { NameRules } from '../canonical/tool-names.ts';

/** Kinds of opaque reasoning state that endpoints of the Gemini format make. */
export const stateKinds: readonly StateKind[] = ['thought'];

/** What functions may be called. Newer models take 128 characters, older ones half of it. */
export const toolNames: NameRules = { maxLength: 64, forbidden: /[^A-Za-z0-9_.:-]/g, begin: /^[A-Za-z_]/ };
