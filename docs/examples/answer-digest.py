#!/usr/bin/env python3
"""Computes the digest of a gateway's answer, as GET /v1/requests/ID shows it.

    python3 answer-digest.py ANSWER     the body of an answer in a file, JSON or an event stream; - reads it from stdin

Standard library only. docs/honesty.md describes the hashed content.
"""
import hashlib
import json
import re
import sys


class Number(str):
    """A number, kept as its JSON text."""


def parse(text):
    def refuse(word):
        raise ValueError(word)

    return json.loads(text, parse_int=Number, parse_float=Number, parse_constant=refuse)


def utf8(text):
    """Encodes text. Joins surrogate pairs that arrived in two pieces; lone surrogates become U+FFFD."""
    return text.encode('utf-16-le', 'surrogatepass').decode('utf-16-le', 'replace').encode()


def sha256(text):
    return hashlib.sha256(utf8(text)).hexdigest()


def canonical_number(text):
    sign, whole, fraction, exponent = re.fullmatch(r'(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?', text).groups()
    digits = (whole + (fraction or '')).lstrip('0')
    kept = digits.rstrip('0')
    power = int(exponent or 0) - len(fraction or '') + len(digits) - len(kept)
    return '0' if kept == '' else sign + kept + (f'e{power}' if power else '')


def canonical(value):
    if isinstance(value, Number):
        return canonical_number(value)
    if isinstance(value, dict):
        return '{' + ','.join(canonical(name) + ':' + canonical(value[name]) for name in sorted(value)) + '}'
    if isinstance(value, list):
        return '[' + ','.join(map(canonical, value)) + ']'
    if isinstance(value, str):
        return json.dumps(utf8(value).decode(), ensure_ascii=False)
    return json.dumps(value)


def arguments(value):
    if isinstance(value, dict):
        return canonical(value)
    if value.strip() == '':
        return '{}'
    try:
        parsed = parse(value)
    except ValueError:
        return value
    return canonical(parsed) if isinstance(parsed, dict) else value


class Content:
    def __init__(self):
        self.text = self.reasoning = ''
        self.calls = {}  # by their place in the answer: id, name, arguments

    def call(self, key, id=None, name=None, more=''):
        call = self.calls.setdefault(key, {'id': None, 'name': '', 'arguments': ''})
        call['id'] = call['id'] or id
        call['name'] = call['name'] or name or ''
        call['arguments'] = more if isinstance(more, dict) else call['arguments'] + (more or '')

    def digest(self):
        lines, seen = [], set()
        if self.reasoning:
            lines.append('reasoning ' + sha256(self.reasoning))
        for call in self.calls.values():
            line = 'call ' + sha256(call['name'] + '\n' + arguments(call['arguments']))
            # A call that is repeated under the same id counts once.
            if call['name'] and (call['id'] in (None, '') or (call['id'], line) not in seen):
                lines.append(line)
            seen.add((call['id'], line))
        if not self.text and not lines:
            return None
        behind = b'\xff' + ''.join(line + '\n' for line in lines).encode() if lines else b''
        return hashlib.sha256(utf8(self.text) + behind).hexdigest()


def read_chat(objects, content):
    first = None
    for choice in (choice for body in objects for choice in body.get('choices') or []):
        first = choice.get('index') if first is None else first
        if choice.get('index') != first:
            continue
        said = choice.get('delta') or choice.get('message') or {}
        content.text += (said.get('content') or '') + (said.get('refusal') or '')
        content.reasoning += said.get('reasoning_content') or said.get('reasoning') or ''
        calls = list(said.get('tool_calls') or [])
        if said.get('function_call'):
            calls.append({'index': 'old', 'function': said['function_call']})
        for place, call in enumerate(calls):
            body = call.get('function') or call.get('custom') or {}
            given = body.get('arguments', body.get('input'))
            content.call(call.get('index', place), call.get('id'), body.get('name'), given)


def read_messages(objects, content):
    for body in objects:
        kind, place = body.get('type'), body.get('index')
        if kind == 'message':
            for place, block in enumerate(body.get('content') or []):
                read_block(block, place, content)
        elif kind == 'content_block_start':
            read_block(body['content_block'], place, content)
        elif kind == 'content_block_delta':
            delta = body['delta']
            content.text += delta.get('text') or ''
            content.reasoning += delta.get('thinking') or ''
            if delta.get('partial_json'):
                content.call(place, more=delta['partial_json'])


def read_block(block, place, content):
    content.text += block.get('text') or ''
    content.reasoning += block.get('thinking') or ''
    if block.get('type') == 'tool_use':
        content.call(place, block.get('id'), block.get('name'), block.get('input') or '')


def read_gemini(objects, content):
    first = None
    for candidate in (candidate for body in objects for candidate in body.get('candidates') or []):
        index = candidate.get('index', Number('0'))
        first = index if first is None else first
        for part in (candidate.get('content') or {}).get('parts') or [] if index == first else []:
            if part.get('thought') is True:
                content.reasoning += part.get('text') or ''
            else:
                content.text += part.get('text') or ''
            call = part.get('functionCall')
            if call:
                content.call(len(content.calls), call.get('id'), call['name'], call.get('args') or '')


def read_responses(objects, content):
    last = [body for body in objects if isinstance(body.get('response', body).get('output'), list)]
    items = last[-1].get('response', last[-1])['output'] if last else []
    if not items:  # a stream that broke off, or an answer without output
        items = [body['item'] for body in objects if body.get('type') == 'response.output_item.done']
    for place, item in enumerate(items):
        kind = item.get('type')
        if kind == 'message':
            for part in item.get('content') or []:
                content.text += part.get('text') or part.get('refusal') or ''
        elif kind == 'reasoning':
            parts = (item.get('summary') or []) + (item.get('content') or [])
            content.reasoning += '\n\n'.join(part['text'] for part in parts if part.get('text'))
        elif kind in ('function_call', 'custom_tool_call'):
            content.call(place, item.get('call_id'), item.get('name'), item.get('arguments', item.get('input')))
        elif kind == 'tool_search_call' and item.get('execution') != 'server':
            content.call(place, item.get('call_id'), 'tool_search', item.get('arguments'))


def objects_in(answer):
    text = answer.lstrip('\ufeff')
    if text.lstrip()[:1] in ('{', '['):
        body = parse(text)
        return body if isinstance(body, list) else [body]
    events = re.split(r'\r\n\r\n|\n\n|\r\r', text)
    data = ['\n'.join(line[5:].strip(' ') for line in re.split(r'\r\n|\n|\r', event) if line.startswith('data:')) for event in events]
    return [parse(one) for one in data if one.startswith('{')]


def digest(answer):
    objects, content = objects_in(answer), Content()
    if any('choices' in body for body in objects):
        read_chat(objects, content)
    elif any('candidates' in body for body in objects):
        read_gemini(objects, content)
    elif any(body.get('object') == 'response' or 'response' in body for body in objects):
        read_responses(objects, content)
    else:
        read_messages(objects, content)
    return content.digest()


if __name__ == '__main__':
    source = sys.stdin.buffer if sys.argv[1] == '-' else open(sys.argv[1], 'rb')
    print(digest(source.read().decode()) or 'no content')
