import type { TextBlocks } from '#core/config/catalog/reply-text.ts';

/** Changes one text that arrives in deltas. */
export interface TextMapper {
  /** Processes the next delta, and returns the text that is ready for the client. */
  push(text: string): string;
  /** Ends the text and returns its buffered remainder. */
  end(): string;
}

/** A function on whole words, or a factory that creates a mapper for each text. */
export type TextMap = ((words: string) => string) | { create(): TextMapper };

const maxWordLength = 64; // limits the delay of text in languages without spaces

class WordMapper implements TextMapper {
  readonly #map: (words: string) => string;
  #partialWord = '';

  constructor(map: (words: string) => string) {
    this.#map = map;
  }

  push(delta: string): string {
    const text = this.#partialWord + delta;
    const lastWordStart = text.search(/\S*$/);
    const end = text.length - lastWordStart > maxWordLength ? text.length : lastWordStart;
    this.#partialWord = text.slice(end);
    return end === 0 ? '' : this.#map(text.slice(0, end));
  }

  end(): string {
    const lastWord = this.#partialWord;
    this.#partialWord = '';
    return lastWord === '' ? '' : this.#map(lastWord);
  }
}

/** Mappers of one reply, one for each of its texts. */
export class MappedBlocks implements TextBlocks {
  readonly #create: () => TextMapper;
  readonly #openMappers = new Map<string, TextMapper>();
  readonly #totals = new Map<string, string>();

  constructor(map: TextMap) {
    this.#create = typeof map === 'function' ? () => new WordMapper(map) : () => map.create();
  }

  push(block: string, text: string): string {
    const existing = this.#openMappers.get(block);
    const mapper = existing ?? this.#create();
    if (existing === undefined) this.#openMappers.set(block, mapper);
    return this.#addToTotal(block, mapper.push(text));
  }

  end(block: string): string {
    const mapper = this.#openMappers.get(block);
    this.#openMappers.delete(block);
    return mapper === undefined ? '' : this.#addToTotal(block, mapper.end());
  }

  total(block: string): string {
    return this.#totals.get(block) ?? '';
  }

  #addToTotal(block: string, text: string): string {
    if (text !== '') this.#totals.set(block, this.total(block) + text);
    return text;
  }
}
