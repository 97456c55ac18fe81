import { join } from 'node:path';
import type { Server } from '@hapi/hapi';
import { readAccounts } from '#core/accounts/account-record.ts';
import { accountOf, type Page, type PageRequest } from '#core/pages/page.ts';
import { describeStep, type System, systems } from './describe-step.ts';
import type { SetupTool } from './tool.ts';
import { tools } from './tools.ts';
import { setupModels, setupValues } from './values.ts';

const path = '/dashboard/connect';

const groups = ['agents', 'editors', 'libraries'] as const satisfies readonly SetupTool['group'][];

/** `/dashboard/connect`: the configuration that each tool needs to use this gateway, filled in. */
export function createConnectPage({ gateway }: Pick<Server, 'gateway'>): Page {
  return {
    path,
    role: 'account',
    title: 'setup.title',
    navigation: { label: 'setup.navigation', icon: 'plug', order: 40 },
    template: join(import.meta.dirname, '..', '..', 'views', 'connect.eta'),
    styles: ['connect.css'],
    scripts: ['htmx.js'],
    async show(request) {
      const { host, query, t } = request;
      const values = setupValues(host, gateway, query['model']);
      if (values === undefined) return { isEmpty: true };
      const tool = tools.find(({ id }) => id === query['tool']) ?? (tools[0] as SetupTool);
      const system = systemOf(request);
      const model = values.model.name;
      const at = (changed: object) => addressOf({ tool: tool.id, system, model, ...changed });
      const names = setupModels(host, gateway).map(({ name }) => ({ name, isCurrent: name === model }));
      const steps = tool.steps(values);
      return {
        isEmpty: false,
        path,
        groups: groups.map((group) => ({
          id: group,
          title: t(`setup.group.${group}`),
          tools: tools
            .filter((one) => one.group === group)
            .map(({ id, name, nameText }) => ({
              id,
              name: nameText === undefined ? name : t(nameText),
              isCurrent: id === tool.id,
              path: at({ tool: id }),
            })),
        })),
        tool: {
          id: tool.id,
          name: tool.nameText === undefined ? tool.name : t(tool.nameText),
          speaks: tool.formats.map((format) => t(`setup.format.${format}`)).join(' · '),
          evidence: evidenceOf(tool, t),
          note: tool.note === undefined ? '' : t(tool.note, { provider: values.providerId }),
        },
        system,
        systems: systems.map((id) => ({
          id,
          name: t(`setup.system.${id}`),
          isCurrent: id === system,
          path: at({ system: id }),
        })),
        models: names,
        steps: steps.map((step, index) => describeStep(step, index + 1, { t, system, values })),
        addresses: [
          { id: 'openai-url', label: t('setup.openai_url'), value: values.apiUrl },
          { id: 'other-url', label: t('setup.other_url'), value: values.baseUrl },
        ],
        hint: await hintOf(request),
      };
    },
  };
}

function evidenceOf({ seen }: SetupTool, t: PageRequest['t']): string {
  if (seen === undefined) return t('setup.documented');
  return seen === '' ? t('setup.seen_any') : t('setup.seen', { version: seen });
}

/** As the query says, or else the browser. */
function systemOf({ query, userAgent }: PageRequest): System {
  const named = systems.find((system) => system === query['system']);
  if (named !== undefined) return named;
  if (/Windows/.test(userAgent)) return 'windows';
  return /Mac OS X|Macintosh/.test(userAgent) ? 'macos' : 'linux';
}

function addressOf(query: Readonly<Record<string, string>>): string {
  return `${path}?${new URLSearchParams(query).toString()}`;
}

/** What may be shown of the account's key; '' when it has none. */
async function hintOf(request: PageRequest): Promise<string> {
  const [record] = await readAccounts(request.host.database, 'id', [accountOf(request).id]);
  return record?.key?.hint ?? '';
}
