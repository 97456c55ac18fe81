import { type SignInProfile, type SignInRefusal, signInWith } from '#core/business/accounts/identities.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { networkOf } from '#core/gateway/http/network.ts';
import { refusedFor } from '#core/platform/shared/shared.ts';
import { homePath } from './next-path.ts';

/** Sign-ins that one network may begin. */
const limits = { limit: 60, period: 60, burst: 60 };

/** True when this address may begin another sign-in. Without the shared state everyone may. */
export async function maySignIn({ shared }: Pick<Host, 'shared'>, address: string): Promise<boolean> {
  return (await refusedFor(shared, `sign-in:${networkOf(address)}`, limits)) === undefined;
}

/** Where a sign-in leads, or why it was refused. */
type AdmissionOutcome = { readonly path: string; readonly refused?: undefined } | { readonly refused: SignInRefusal };

/**
 * Signs a person in.
 *
 * @param startSession begins the session of the account in the person's browser
 * @param next where the person was going; a new account without such a place is shown its key
 */
export async function admit(
  host: Host,
  profile: SignInProfile,
  startSession: (accountId: string) => Promise<void>,
  next: string,
): Promise<AdmissionOutcome> {
  const outcome = await signInWith(host, profile);
  if (outcome.refused !== undefined) return outcome;
  await startSession(outcome.accountId);
  return { path: outcome.isNew && next === homePath ? '/account/key' : next };
}
