import { getConfiguredProviderName } from '#core/business/payments/connections.ts';
import { PaymentError, type PaymentProvider } from '#core/business/payments/payment-provider.ts';
import type { Diagnosis, DiagnosisHost } from '#core/gateway/diagnosis/diagnosis.ts';
import { failed, type Finding, ok, skipped, warning } from '#core/gateway/diagnosis/finding.ts';
import { explainNetworkError } from '#core/gateway/diagnosis/network.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { resolveLogoPath, readQrisLogo } from './qr-image/qris-logo.ts';

const nonexistentCharge = { reference: 'DAYPASS-DOCTOR', providerReference: undefined }; // real references have another format
const movementsRangeMs = 60_000;

export function createPaymentDiagnosis({
  paymentProviders,
}: {
  readonly paymentProviders: ReadonlyMap<string, PaymentProvider>;
}): Diagnosis {
  return {
    name: 'payments',
    *checks(host) {
      const name = getConfiguredProviderName(host);
      const provider = name === undefined ? undefined : paymentProviders.get(name);
      yield {
        subject: name ?? 'none',
        run: async (signal) =>
          provider === undefined
            ? skipped('nothing is sold: payments.provider is not set')
            : checkProvider(provider, host, signal),
      };
      const logoPath = resolveLogoPath(host);
      if (logoPath !== undefined) yield { subject: 'qris_mark', run: () => checkLogo(logoPath) };
    },
  };
}

async function checkLogo(path: string): Promise<Finding> {
  try {
    const { width, height } = await readQrisLogo(path);
    return ok(`${width} by ${height} px`);
  } catch (error) {
    const advice = 'Save the QRIS mark there as a small PNG, or remove payments.qris_mark.';
    return failed(`${path}: ${(error as Error).message}`, advice);
  }
}

async function checkProvider(provider: PaymentProvider, host: DiagnosisHost, signal: AbortSignal): Promise<Finding> {
  if (provider.isSandbox === true) return skipped('moves no money');
  try {
    // A connection uses only settings and the clock, and does no I/O until it is called.
    const connection = provider.connect(host as Host);
    const until = new Date(host.now());
    if (connection.listMovements === undefined) await connection.status(nonexistentCharge, signal);
    else
      await connection.listMovements({ since: new Date(until.getTime() - movementsRangeMs), until }, undefined, signal);
    return ok('takes the credentials');
  } catch (error) {
    return explainFailure(error, provider);
  }
}

function explainFailure(error: unknown, { title }: PaymentProvider): Finding {
  if (!(error instanceof PaymentError)) {
    const text = error instanceof Error ? error.message.slice(0, 200) : 'cannot be connected';
    return failed(text, 'Correct its section in gateway.yaml; `daypass check` shows the line.');
  }
  if (error.kind === 'rejected') {
    const advice = `Compare the keys in gateway.yaml with the ${title} dashboard: environment (sandbox or production), permissions, and whether a key was replaced.`;
    return failed(`refused: ${error.message.slice(0, 200)}`, advice);
  }
  if (error.cause !== undefined) return explainNetworkError(error);
  const advice = "Try again in a minute, and look at the provider's status page.";
  return warning(error.message.slice(0, 200), advice);
}
