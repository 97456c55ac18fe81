import type { Upstream } from '#core/config/catalog/catalog.ts';
import { type JsonObject, type JsonValue, listObjects, readMember } from '#core/platform/json.ts';

export interface ReportedBalance {
  readonly amount: number;
  readonly currency: string;
  /** False if the vendor says that it rejects calls. */
  readonly isAvailable?: boolean;
}

interface BalanceEndpoint {
  readonly vendor: string;
  readonly presets: readonly string[];
  readonly hosts: readonly string[];
  /** Path on the host of the upstream's base URL. */
  readonly path: string;
  /** @returns undefined for a key without a balance, such as one without a limit */
  read(response: JsonObject, host: string): ReportedBalance | undefined;
  readonly source: string; // the vendor's page that documents it
  readonly seen: string; // when that page was read
}

export const balanceEndpoints: readonly BalanceEndpoint[] = [
  {
    vendor: 'DeepSeek',
    presets: ['deepseek', 'deepseek-anthropic'],
    hosts: ['api.deepseek.com'],
    path: '//user/balance',
    read(response) {
      // One entry per currency; calls are paid from any of them.
      const entries = listObjects(response['balance_infos']).flatMap((entry) => {
        const amount = readNumber(entry['total_balance']);
        return amount === undefined ? [] : [{ amount, currency: String(entry['currency']) }];
      });
      const [largest] = entries.toSorted((first, second) => second.amount - first.amount);
      return largest && { ...largest, isAvailable: response['is_available'] !== false };
    },
    source: 'https://api-docs.deepseek.com/api/get-user-balance',
    seen: '2026-11-29',
  },
  {
    vendor: 'OpenRouter',
    presets: ['openrouter'],
    hosts: ['openrouter.ai'],
    path: '//api/v1/key',
    read(response) {
      // Null for a key without a limit. Reading the account's credits requires a management key.
      const amount = readNumber(readMember(response['data'], 'limit_remaining'));
      return amount === undefined ? undefined : { amount, currency: 'USD' };
    },
    source: 'https://openrouter.ai/docs/api/api-reference/api-keys/get-current-key',
    seen: '2026-11-29',
  },
  {
    vendor: 'Moonshot',
    presets: ['moonshot', 'moonshot-anthropic'],
    hosts: ['api.moonshot.ai', 'api.moonshot.cn'],
    path: '//v1/users/me/balance',
    read(response, host) {
      const amount = readNumber(readMember(response['data'], 'available_balance'));
      const currency = host.endsWith('.cn') ? 'CNY' : 'USD';
      return amount === undefined ? undefined : { amount, currency, isAvailable: amount > 0 };
    },
    source: 'https://platform.kimi.ai/docs/api/balance',
    seen: '2026-11-29',
  },
  {
    vendor: 'SiliconFlow',
    presets: [],
    hosts: ['api.siliconflow.com', 'api.siliconflow.cn'],
    path: '//v1/user/info',
    read(response, host) {
      const amount = readNumber(readMember(response['data'], 'totalBalance'));
      const currency = host.endsWith('.cn') ? 'CNY' : 'USD';
      return amount === undefined ? undefined : { amount, currency };
    },
    source: 'https://docs.siliconflow.com/cn/api-reference/userinfo/get-user-info',
    seen: '2026-11-29',
  },
  {
    vendor: 'Novita',
    presets: [],
    hosts: ['api.novita.ai'],
    path: '//openapi/v1/billing/balance/detail',
    read(response) {
      const amount = readNumber(response['availableBalance']); // ten-thousandths of a dollar
      return amount === undefined ? undefined : { amount: amount / 10_000, currency: 'USD' };
    },
    source: 'https://novita.ai/docs/api-reference/basic-get-user-balance',
    seen: '2026-11-29',
  },
];

export function findEndpoint({ vendor, baseUrl }: Pick<Upstream, 'vendor' | 'baseUrl'>): BalanceEndpoint | undefined {
  const { hostname } = new URL(baseUrl);
  return balanceEndpoints.find(
    ({ presets, hosts }) => hosts.includes(hostname) || (vendor !== undefined && presets.includes(vendor)),
  );
}

function readNumber(value: JsonValue | undefined): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}
