import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { ClientTool, Tool, ToolChoice } from '../../../canonical/conversation.ts';
import type { Notes } from '../../../canonical/notes.ts';
import { invalid, isMissing, maybeObject, maybeText, readTexts } from '../../../wire/read.ts';
import { isClientTool } from '../../../canonical/tool-names.ts';
import { readName, ToolSet } from '../../../canonical/tools.ts';
import { maybeFields, readFields, readMany, readWord } from '../../../wire/gemini-fields.ts';
import { textsOf } from '../../../wire/members.ts';
import { readSchema } from '../schema/read-schema.ts';
import type { GeminiCalling, GeminiFunction, GeminiTool, GeminiToolConfig } from '../../../wire/gemini.ts';

/** Web search tools of all generations. */
const searches = new Set(['googleSearch', 'googleSearchRetrieval', 'enterpriseWebSearch']);

/**
 * Reads the tools of a request. Tools that only Google can run are left out.
 *
 * Source: Gemini API reference, "Tool".
 *
 * @throws GatewayError `invalid_request`
 */
export function readTools(value: JsonValue | undefined, notes: Notes): Tool[] {
  const tools = new ToolSet();
  for (const [index, entry] of readMany(value, 'tools').entries()) {
    const path = `tools[${index}]`;
    for (const tool of readEntry(readFields(entry, path), path, notes)) tools.add(tool);
  }
  return tools.list;
}

function readEntry(entry: GeminiTool, path: string, notes: Notes): Tool[] {
  const declared = readMany(entry.functionDeclarations, `${path}.functionDeclarations`);
  const functions: Tool[] = declared.map((declaration, index) =>
    readDeclaration(declaration, `${path}.functionDeclarations[${index}]`, notes),
  );
  for (const [name, tool] of Object.entries(entry)) {
    if (name === 'functionDeclarations' || isMissing(tool)) continue;
    if (searches.has(name)) functions.push(readSearch(readFields(tool, `${path}.${name}`), notes));
    else notes.drop(`tool ${name}`);
  }
  return functions;
}

/** A search by any of Google's names. */
function readSearch({ excludeDomains, ...others }: JsonObject, notes: Notes): Tool {
  for (const [name, value] of Object.entries(others)) if (!isMissing(value)) notes.drop(`${name} of googleSearch`);
  const blocked = textsOf(excludeDomains);
  return { form: 'web_search', options: blocked.length === 0 ? {} : { blockedDomains: blocked } };
}

function readDeclaration(value: JsonValue, path: string, notes: Notes): ClientTool {
  const declaration: GeminiFunction = readFields(value, path);
  if (readWord(declaration.behavior, `${path}.behavior`) === 'NON_BLOCKING') notes.drop('behavior of a function');
  notes.dropMembers(declaration, ['response', 'responseJsonSchema'], 'a function');
  const schema = maybeObject(declaration.parametersJsonSchema, `${path}.parametersJsonSchema`);
  const own = maybeObject(declaration.parameters, `${path}.parameters`);
  return {
    form: 'function',
    name: readName(declaration, path),
    namespace: undefined,
    description: maybeText(declaration.description, `${path}.description`),
    schema: schema ?? (own && readSchema(own)),
    strict: undefined,
    grammar: undefined,
  };
}

/** @throws GatewayError `invalid_request` */
export function readToolChoice(
  value: JsonValue | undefined,
  tools: readonly Tool[],
  notes: Notes,
): ToolChoice | undefined {
  const config: GeminiToolConfig = maybeFields(value, 'toolConfig') ?? {};
  for (const [name, member] of Object.entries(config)) {
    if (name !== 'functionCallingConfig' && !isEmpty(member)) notes.drop(`toolConfig.${name}`);
  }
  const path = 'toolConfig.functionCallingConfig';
  const calling: GeminiCalling = maybeFields(config.functionCallingConfig, path) ?? {};
  const mode = readWord(calling.mode, `${path}.mode`);
  const allowed = readAllowed(calling.allowedFunctionNames, tools, `${path}.allowedFunctionNames`);
  switch (mode) {
    case undefined:
      return allowed && { type: 'auto', allowed };
    case 'AUTO':
      return { type: 'auto', ...(allowed && { allowed }) };
    case 'VALIDATED':
      notes.approximate('mode VALIDATED as AUTO');
      return { type: 'auto', ...(allowed && { allowed }) };
    case 'NONE':
      return { type: 'none' };
    case 'ANY':
      if (allowed?.length === 1) return { type: 'tool', name: allowed[0] };
      return { type: 'required', ...(allowed && { allowed }) };
    default:
      throw invalid(`${path}.mode`, 'AUTO, ANY, NONE or VALIDATED');
  }
}

function readAllowed(
  value: JsonValue | undefined,
  tools: readonly Tool[],
  path: string,
): readonly string[] | undefined {
  const names = readTexts(value, path);
  for (const [index, name] of names.entries()) {
    if (!tools.some((tool) => isClientTool(tool) && tool.name === name)) {
      throw invalid(`${path}[${index}]`, 'the name of one of the functions');
    }
  }
  return names.length === 0 ? undefined : names;
}

function isEmpty(value: JsonValue | undefined): boolean {
  return isMissing(value) || (isJsonObject(value) && Object.keys(value).length === 0);
}
