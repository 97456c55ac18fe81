import { AccountError } from '#core/business/accounts/account-error.ts';
import {
  type IdentityKey,
  type SignInProfile,
  type SignInRefusal,
  signInWithProfile,
} from '#core/business/accounts/identities.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { parseNetwork } from '#core/gateway/http/network.ts';
import { takeRequest } from '#core/platform/shared/shared.ts';
import { homePath } from './next-path.ts';

const signInLimits = { limit: 60, period: 60, burst: 60 };

/** Returns false once the network is over the limit; always true while the shared state is unavailable. */
export async function passRateLimit({ shared }: Pick<Host, 'shared'>, ipAddress: string): Promise<boolean> {
  return (await takeRequest(shared, `sign-in:${parseNetwork(ipAddress)}`, signInLimits)) === undefined;
}

/** `expired`: the identity was removed or moved in the meantime. */
type AdmissionOutcome =
  | { readonly path: string; readonly refused?: undefined }
  | { readonly refused: SignInRefusal | 'expired' };

/**
 * @param startSession throws AccountError `not_found` if the identity was removed
 * @param next path that the person requested; without one, a new account is shown its key
 */
export async function completeSignIn(
  host: Host,
  profile: SignInProfile,
  startSession: (accountId: string, identity: IdentityKey) => Promise<void>,
  next: string,
): Promise<AdmissionOutcome> {
  const outcome = await signInWithProfile(host, profile);
  if (outcome.refused !== undefined) return outcome;
  try {
    await startSession(outcome.accountId, profile);
  } catch (error) {
    if (error instanceof AccountError && error.kind === 'not_found') return { refused: 'expired' };
    throw error;
  }
  return { path: outcome.isNew && next === homePath ? '/account/key' : next };
}
