import { describeNumber } from '../kit/text.ts';

/** How much room lines may take: Slack takes 13,000 characters in all blocks of a message, escapes included. */
export interface Room {
  readonly sections: number;
  readonly characters: number;
}

const NAMES_SHOWN = 5;

/** Puts lines into as few sections as they need; `omitted` counts the lines that fit into none. */
export function splitLines(lines: readonly string[], room: Room) {
  const sections: string[] = [];
  let shown = 0;
  for (const line of lines) {
    const last = sections.at(-1);
    if (last !== undefined && last.length + line.length < room.characters)
      sections[sections.length - 1] = `${last}\n${line}`;
    else if (sections.length < room.sections) sections.push(line);
    else break;
    shown += 1;
  }
  return { sections, omitted: lines.length - shown };
}

/** "`a`, `b` and 7 more". */
export function listNames(names: readonly string[]): string {
  const shown = names.slice(0, NAMES_SHOWN);
  const rest = names.length - shown.length;
  return rest > 0 ? `${shown.join(', ')} and ${describeNumber(rest)} more` : shown.join(', ');
}
