import { plainId } from '../../../canonical/call-ids.ts';
import type { EncodeTarget } from '../../../canonical/codec.ts';
import type {
  Part,
  Reasoning,
  ToolCall,
  ToolResult,
  FilePart,
  ImagePart,
  Source,
} from '../../../canonical/conversation.ts';
import {
  type AssistantTurn,
  asReminder,
  type SystemTurn,
  textOf,
  type DialogueTurn,
  type UserTurn,
} from '../../../canonical/dialogue.ts';
import {
  isMedia,
  assistantText,
  checkImageType,
  fileText,
  unsupported,
  uploadedFile,
} from '../../../canonical/media.ts';
import { mediaTypeIn } from '../../../canonical/made-images.ts';
import { objectInput } from '../../../canonical/tools.ts';
import { placeBreakpoint } from './cache-breakpoints.ts';
import type { MessagesBlock, MessagesMessage, MessagesSource } from '../../../wire/messages.ts';

type Role = 'user' | 'assistant' | 'system';

interface Written {
  readonly role: Role;
  readonly content: MessagesBlock[];
}

/** The user's text where a conversation begins with something else. */
const opening = 'Begin.';

/**
 * Writes turns as messages. The endpoint requires that a user begins, that results come first in the turn after
 * their calls, and that no block is empty.
 *
 * Source: Anthropic API reference, "Messages".
 */
export function writeMessages(turns: readonly DialogueTurn[], target: EncodeTarget): MessagesMessage[] {
  const writer = new MessageWriter(target);
  for (const [index, turn] of turns.entries()) {
    if (turn.role === 'user') writer.user(turn);
    else if (turn.role === 'assistant') writer.assistant(turn);
    else writer.system(turn, turns[index + 1]);
  }
  return writer.finish();
}

class MessageWriter {
  readonly #target: EncodeTarget;
  readonly #messages: Written[] = [];

  constructor(target: EncodeTarget) {
    this.#target = target;
  }

  user({ results, parts }: UserTurn): void {
    const shown: Part[] = [];
    const content = results.map((result) => this.#result(result, shown));
    this.#push('user', [...content, ...writeInput([...shown, ...parts], this.#target)]);
  }

  assistant({ items }: AssistantTurn): void {
    const content = items.flatMap((item) => {
      if (item.type === 'message') return writeOutput(item.parts, this.#target);
      return item.type === 'reasoning' ? this.#reasoning(item) : [this.#call(item)];
    });
    this.#push('assistant', content);
  }

  /** A system message is accepted only between a user's message and the answer; elsewhere it becomes a user's. */
  system({ parts }: SystemTurn, next: DialogueTurn | undefined): void {
    const text = textOf(parts);
    if (text.trim() === '') return;
    const isBetween = this.#last?.role === 'user' && (next === undefined || next.role === 'assistant');
    if (isBetween) return this.#push('system', writeText(text));
    this.#target.notes.approximate('late system message as user message');
    this.#push('user', writeText(asReminder(text)));
  }

  finish(): MessagesMessage[] {
    if (this.#messages[0]?.role !== 'user') {
      this.#target.notes.approximate('a conversation without a user at its beginning');
      this.#messages.unshift({ role: 'user', content: writeText(opening) });
    }
    if (this.#last?.role === 'assistant') trimEnd(this.#last.content);
    return this.#messages.map(({ role, content }) => ({ role, content }));
  }

  get #last(): Written | undefined {
    return this.#messages.at(-1);
  }

  #push(role: Role, content: MessagesBlock[]): void {
    if (content.length === 0) return;
    const last = this.#last;
    if (last?.role === role) last.content.push(...content);
    else this.#messages.push({ role, content: [...content] });
  }

  /** Only state that this upstream has made: one that checks signatures refuses any other, in every later request too. */
  #reasoning({ text, state }: Reasoning): MessagesBlock[] {
    const own = this.#target.ownState(state);
    if (own === undefined || own === '') {
      const isTaken = text !== '' && !this.#target.profile.quirks.signed_thinking;
      if (isTaken) return [{ type: 'thinking', thinking: text, signature: '' }];
      this.#target.notes.drop('reasoning of earlier turns');
      return [];
    }
    if (state?.kind === 'redacted') return [{ type: 'redacted_thinking', data: own }];
    return [{ type: 'thinking', thinking: text, signature: own }];
  }

  #call(call: ToolCall): MessagesBlock {
    return {
      type: 'tool_use',
      id: plainId(call.id),
      name: this.#target.names.toWire(call.name, call.namespace),
      input: objectInput(call, this.#target.notes),
    };
  }

  /** @param shown takes the parts that the result itself cannot hold */
  #result({ id, parts, isError }: ToolResult, shown: Part[]): MessagesBlock {
    // Errors can only be text.
    const holdsAll = this.#target.profile.quirks.tool_result_images && !isError;
    const others: Part[] = holdsAll ? [] : parts.filter(isMedia);
    if (others.length > 0) this.#target.notes.approximate('images in tool results as user message');
    shown.push(...others);
    const content = writeInput(
      parts.filter((part) => !others.includes(part)),
      this.#target,
    );
    if (content.length === 0 && others.length > 0) content.push(...writeText('What this tool has shown follows.'));
    if (content.length === 0 && isError) content.push(...writeText('Error without a message.'));
    const block = {
      type: 'tool_result',
      tool_use_id: plainId(id),
      ...(content.length > 0 && { content }),
      ...(isError && { is_error: true }),
    };
    return parts.reduce<MessagesBlock>(placeBreakpoint, block);
  }
}

/** A prefilled answer must not end in white space. */
function trimEnd(content: MessagesBlock[]): void {
  const last = content.at(-1);
  if (last?.type === 'text') content[content.length - 1] = { ...last, text: String(last.text).trimEnd() };
}

/**
 * Writes parts of a user or a tool; empty texts are left out, because they are refused.
 *
 * @throws GatewayError `unsupported_content` for media that the model does not accept
 */
function writeInput(parts: readonly Part[], target: EncodeTarget): MessagesBlock[] {
  return parts.flatMap((part) => {
    switch (part.type) {
      case 'image':
        return [writeImage(part, target, part)];
      case 'file':
        return writeFile(part, target);
      case 'audio':
        throw unsupported('audio', part);
      case 'video':
        throw unsupported('videos', part);
      default:
        return writeText(part.text).map((block) => placeBreakpoint(block, part));
    }
  });
}

function writeOutput(parts: readonly Part[], { notes }: Pick<EncodeTarget, 'notes'>): MessagesBlock[] {
  return assistantText(parts, notes).flatMap((part) =>
    writeText(part.text).map((block) => placeBreakpoint(block, part)),
  );
}

function writeText(text: string): MessagesBlock[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

/** @param from the client's part, for errors */
function writeImage({ source, detail }: ImagePart, { profile, notes }: EncodeTarget, from: Part): MessagesBlock {
  if (!profile.capabilities.images) throw unsupported('images', from);
  checkImageType(source, true, from);
  if (detail !== undefined && detail !== 'auto') notes.drop('detail of an image');
  if (source.type !== 'base64') return { type: 'image', source: writeSource(source, from) };
  // A wrong media type is refused.
  const mediaType = mediaTypeIn(source.data) ?? source.mediaType;
  return { type: 'image', source: writeSource({ ...source, mediaType }, from) };
}

function writeSource(source: Source, from: Part): MessagesSource {
  switch (source.type) {
    case 'base64':
      return { type: 'base64', media_type: source.mediaType, data: source.data };
    case 'url':
      return { type: 'url', url: source.url };
    case 'id':
      return { type: 'file', file_id: uploadedFile(source, 'anthropic', from) };
  }
}

/** Models without file support still get text files as text. */
function writeFile(file: FilePart, target: EncodeTarget): MessagesBlock[] {
  const { source, name } = file;
  const content = fileText(source);
  const { files } = target.profile.capabilities;
  if (content !== undefined && !files) return writeText([name, content].filter(Boolean).join('\n\n'));
  if (!files) throw unsupported('files', file);
  if (content !== undefined && content.trim() === '') return [];
  const title = name === undefined || name === '' ? {} : { title: name };
  if (content !== undefined) {
    return [{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: content }, ...title }];
  }
  if (source.type === 'base64' && source.mediaType.startsWith('image/')) {
    return [writeImage({ type: 'image', source, detail: undefined }, target, file)];
  }
  if (source.type === 'base64' && source.mediaType !== 'application/pdf') {
    throw unsupported(`files of the type ${source.mediaType}`, file);
  }
  return [{ type: 'document', source: writeSource(source, file), ...title }];
}
