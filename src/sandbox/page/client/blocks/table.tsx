import type { Json } from '../../../slack/page-api.ts';
import { scrollable } from '../elements/scrollable.ts';
import { textIn } from '../json.ts';
import { isRichText, RichText } from '../text/rich-text.tsx';
import { Signed } from '../text/signs.tsx';
import type { BlockProps } from './block-props.ts';
import { cellText, rowsOf } from './cells.ts';

/** A cell: raw text, a number, or rich text. */
export function Cell({ cell }: { readonly cell: Json | undefined }) {
  if (isRichText(cell)) return <RichText block={cell} />;
  return <Signed text={cellText(cell)} />;
}

/** The plain table: what the app wrote, as it wrote it. */
export function Table({ block }: BlockProps) {
  const [head = [], ...rows] = rowsOf(block);
  const settings = Array.isArray(block.column_settings) ? block.column_settings : [];
  const align = (column: number) => `align-${textIn(settings[column], 'align') || 'left'}`;
  return (
    <section class="table-scroll" aria-label="Table" {...scrollable}>
      <table>
        <thead>
          <tr>
            {head.map((cell, column) => (
              <th key={column} scope="col" class={align(column)}>
                <Cell cell={cell} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column} class={align(column)}>
                  <Cell cell={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
