import type { Server } from '@hapi/hapi';
import { readAccounts } from '#core/business/accounts/account-record.ts';
import { accountOf, type Page, type PageRequest } from '#core/web/pages/page.ts';
import { plainUrl } from '#core/web/pages/setup-command.ts';
import { wellKnownPaths } from '#core/web/pages/paths.ts';
import { setupModels } from './defaults.ts';
import { describeTool, nameOf } from './describe-tool.ts';
import { describeOneCommand } from './one-command.ts';
import { type Reader, type System, systems } from './reader.ts';
import { scriptsOf, type SetupScripts } from './script/scripts.ts';
import type { SetupTool } from './tool.ts';
import { groups, tools } from './tools.ts';
import { setupValues } from './values.ts';

const path = wellKnownPaths.connect;

/** Value of the query parameter `tool` for setting up all tools at once. */
const allTools = 'all';

type Gateway = Server['gateway'];

interface Choice {
  /** Undefined to set up all tools at once. */
  readonly tool: SetupTool | undefined;
  readonly reader: Reader;
}

/** `/dashboard/connect`: settings for the chosen tool, by default the most used one, and the command that sets up all tools. */
export function createConnectPage({ gateway }: Pick<Server, 'gateway'>): Page {
  return {
    path,
    role: 'account',
    title: 'setup.title',
    navigation: { label: 'setup.navigation', icon: 'plug', order: 40 },
    template: 'setup/connect.eta',
    styles: ['setup/connect.css'],
    scripts: ['htmx.js'],
    async show(request) {
      const panel = await describePanel(gateway, request);
      return panel.isEmpty ? panel : { ...panel, ...describeChoices(gateway, request) };
    },
    // Reloading gateway.yaml changes models and the script's checksum; rotating the key changes its hint.
    live: {
      topics: ['account', 'health'],
      parts: { panel: 'setup/connect/panel.eta' },
      values: (request) => describePanel(gateway, request),
    },
  };
}

function describeChoices(gateway: Gateway, request: PageRequest) {
  const { host, t } = request;
  const { tool, reader } = choiceOf(gateway, request);
  const { system, chosenModel } = reader;
  const id = tool?.id ?? allTools;
  return {
    path,
    all: { id: allTools, isCurrent: tool === undefined, path: addressOf(allTools, reader) },
    groups: groups.map((group) => ({
      id: group,
      title: t(`setup.group.${group}`),
      tools: tools
        .filter((one) => one.group === group)
        .map((one) => ({ id: one.id, name: nameOf(one, t), isCurrent: one === tool, path: addressOf(one.id, reader) })),
    })),
    system,
    systems: systems.map((one) => ({
      id: one,
      name: t(`setup.system.${one}`),
      isCurrent: one === system,
      path: addressOf(id, { ...reader, system: one }),
    })),
    models: setupModels(host, gateway).map(({ name }) => ({ name, isCurrent: name === chosenModel })),
  };
}

/** The part below the choices; `isEmpty` if the catalog has no model for it. */
async function describePanel(gateway: Gateway, request: PageRequest) {
  const { host } = request;
  // Must come first: it reads the abilities of thousands of models in separate turns of the event loop.
  const scripts = await scriptsOf(host, gateway);
  const { tool, reader } = choiceOf(gateway, request);
  const one = tool === undefined ? oneCommandOf(scripts, reader) : undefined;
  const values = tool && setupValues(host, gateway, tool.formats[0], reader.chosenModel);
  if (one === undefined && values === undefined) return { isEmpty: true };
  return {
    isEmpty: false,
    one,
    tool: tool && values && describeTool(tool, values, reader),
    allPath: addressOf(allTools, reader),
    addresses: describeAddresses(request),
    hint: await hintOf(request),
  };
}

function oneCommandOf({ sh, ps1, data }: SetupScripts, reader: Reader) {
  if (data === undefined) return undefined;
  const { sha256 } = reader.system === 'windows' ? ps1 : sh;
  const toolNames = data.tools.filter(({ isOnRequest }) => !isOnRequest).map(({ name }) => name);
  return describeOneCommand({ sha256, tools: toolNames, slug: data.slug }, reader);
}

function describeAddresses({ host, t }: PageRequest) {
  const baseUrl = plainUrl(host.service.baseUrl);
  return [
    { id: 'openai-url', label: t('setup.openai_url'), value: `${baseUrl}/v1` },
    { id: 'other-url', label: t('setup.other_url'), value: baseUrl },
  ];
}

function choiceOf(gateway: Gateway, request: PageRequest): Choice {
  const { host, query, t } = request;
  const chosenModel = setupModels(host, gateway).find(({ name }) => name === query['model'])?.name;
  return {
    tool: query['tool'] === allTools ? undefined : (tools.find(({ id }) => id === query['tool']) ?? tools[0]),
    reader: { t, system: systemOf(request), baseUrl: host.service.baseUrl, chosenModel },
  };
}

/** The system in the query, otherwise the browser's. */
function systemOf({ query, userAgent }: PageRequest): System {
  const chosen = systems.find((system) => system === query['system']);
  if (chosen !== undefined) return chosen;
  if (/Windows/.test(userAgent)) return 'windows';
  return /Mac OS X|Macintosh/.test(userAgent) ? 'macos' : 'linux';
}

function addressOf(tool: string, { system, chosenModel }: Reader): string {
  const query = { tool, system, ...(chosenModel !== undefined && { model: chosenModel }) };
  return `${path}?${new URLSearchParams(query).toString()}`;
}

/** The beginning and end of the account's key, by which people recognise it; '' without a key. */
async function hintOf(request: PageRequest): Promise<string> {
  const [record] = await readAccounts(request.host.database, 'id', [accountOf(request).id]);
  return record?.key?.hint ?? '';
}
