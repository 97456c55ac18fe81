import type { Host, Services } from '#core/gateway/host/host.ts';
import type { Order } from './order-types.ts';
import type { PaymentConnection, PaymentProvider } from './payment-provider.ts';
import { defaultProvider, noProvider, paymentsSection } from './section.ts';

type Providers = ReadonlyMap<string, PaymentProvider>;

const serviceKey = 'payment-providers';
const connectionsByHost = new WeakMap<Host, Map<string, PaymentConnection>>(); // by provider name, for each loaded configuration

/** Stores the registered providers, so that any code that has a host can get them with `getPaymentProviders`. */
export function keepProviders(services: Pick<Services, 'keep'>, providers: Providers): void {
  services.keep(serviceKey, () => providers);
}

/** Returns all registered providers by name; empty if `keepProviders` has not been called yet. */
export function getPaymentProviders(host: Pick<Host, 'keep'>): Providers {
  return host.keep<Providers>(serviceKey, () => new Map());
}

/** Returns the name of the provider used for new orders; undefined if this gateway sells nothing. */
export function getConfiguredProviderName({
  section,
  isProduction,
}: Pick<Host, 'section' | 'isProduction'>): string | undefined {
  const name = section(paymentsSection).provider ?? (isProduction ? noProvider : defaultProvider);
  return name === noProvider ? undefined : name;
}

/** Returns the provider used for new orders; undefined if this gateway sells nothing or the configured provider is not registered. */
export function getConfiguredProvider(host: Host): PaymentProvider | undefined {
  const name = getConfiguredProviderName(host);
  return name === undefined ? undefined : getPaymentProviders(host).get(name);
}

/** Undefined if paying would move real money, if the order has no attempt, or if the provider is no longer configured. */
export function findSimulationCommand(
  host: Host,
  { provider, attempt }: Pick<Order, 'provider' | 'attempt'>,
): string | undefined {
  if (attempt === undefined) return undefined;
  try {
    return getPaymentConnection(host, provider).simulation?.(attempt);
  } catch {
    return undefined; // the provider is not registered, has no secret, or is a sandbox in production
  }
}

/**
 * Returns the connection to a provider, with the settings from this configuration. The provider may be the configured one, or another one
 * that still has open orders.
 *
 * @throws Error if the provider is not registered, is a sandbox in production, or has no secret
 */
export function getPaymentConnection(host: Host, name: string): PaymentConnection {
  const connectionsByName = connectionsByHost.get(host) ?? new Map<string, PaymentConnection>();
  connectionsByHost.set(host, connectionsByName);
  const existing = connectionsByName.get(name);
  if (existing !== undefined) return existing;
  const provider = getPaymentProviders(host).get(name);
  if (provider === undefined) throw new Error(`Payment provider "${name}" not found`);
  if (provider.isSandbox === true && host.isProduction)
    throw new Error(`Payment provider "${name}" is a sandbox, so it cannot be used in production`);
  const connection = provider.connect(host);
  connectionsByName.set(name, connection);
  return connection;
}
