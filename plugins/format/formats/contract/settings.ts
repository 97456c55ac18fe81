import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { EncodeTarget } from '../../canonical/codec.ts';
import type { Conversation, Settings } from '../../canonical/conversation.ts';
import type { Notes } from '../../canonical/notes.ts';
import { createSettings, noteLostSetting, writeSetting, readSetting } from '../../canonical/settings.ts';
import { isMissing } from '../../wire/read.ts';
import { findMistake, type Member, type Parameter, type ParameterRules } from './parameters.ts';

/**
 * Reads a request's settings. Members that `Conversation` cannot hold are noted.
 *
 * @throws GatewayError `invalid_request` naming the parameter, or the error that a row's `read` throws
 */
export function readSettings(request: JsonObject, { body }: ParameterRules, notes: Notes): Settings {
  const settings = createSettings();
  readObjectSettings(request, body, settings, notes);
  return settings;
}

function readObjectSettings(object: JsonObject, rules: Member, settings: Settings, notes: Notes): void {
  for (const name of Object.keys(object)) {
    const value = object[name];
    if (isMissing(value)) continue;
    const member = rules.members?.get(name);
    if (member === undefined) noteUnreadMember(name, value, rules, notes);
    if (member?.parameter !== undefined) readParameter(member.parameter, value, settings, notes);
    if (member?.members !== undefined && isJsonObject(value)) readObjectSettings(value, member, settings, notes);
  }
}

function noteUnreadMember(name: string, value: JsonValue, { parameter, isLost }: Member, notes: Notes): void {
  if (parameter === undefined) notes.drop(name);
  else if (isLost?.(value) === true) notes.drop(`${parameter.name}.${name}`);
}

function readParameter(parameter: Parameter, value: JsonValue, settings: Settings, notes: Notes): void {
  const { to, read, isLost } = parameter.row;
  if (to === undefined && isLost === undefined) return;
  const mistake = findMistake(value, parameter);
  if (mistake !== undefined) throw mistake.error;
  if (isLost?.(value) === true) notes.drop(parameter.name);
  if (to === undefined || (parameter.isAlias && readSetting(settings, to) !== undefined)) return;
  const setting = read === undefined ? value : read(value, notes);
  if (setting !== undefined) writeSetting(settings, to, setting);
}

/**
 * Writes a conversation's settings as parameters. Settings that the format cannot express are noted.
 *
 * @param body the request so far, to which the parameters are added
 */
export function writeSettings(
  conversation: Conversation,
  { writtenParameters, lostSettings }: ParameterRules,
  target: EncodeTarget,
  body: JsonObject = {},
): JsonObject {
  for (const name of lostSettings) noteLostSetting(name, conversation, target.notes);
  for (const { path, row } of writtenParameters) {
    const { to, write } = row;
    const setting = to && readSetting(conversation, to);
    if (to === undefined || setting === undefined) continue;
    const value = write === undefined ? setting : write(setting as never, target);
    if (value === undefined) noteLostSetting(to, conversation, target.notes);
    else setAtPath(body, path, value);
  }
  return body;
}

function setAtPath(body: JsonObject, [name = '', inner]: readonly string[], value: JsonValue): void {
  const holder = body[name];
  if (inner === undefined) body[name] = value;
  else if (isJsonObject(holder)) holder[inner] = value;
  else body[name] = { [inner]: value };
}
