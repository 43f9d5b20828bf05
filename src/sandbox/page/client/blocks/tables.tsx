import { useState } from 'preact/hooks';
import { textIn } from '../../../slack/json.ts';
import { scrollable } from '../elements/popup.tsx';
import { Signed } from '../text/view.tsx';
import type { BlockProps } from './block-view.tsx';
import { filterRows, nextOrder, type Order, rowsOf, sortRows } from './sort-rows.ts';

/** Slack's "Data table block" page. */
const PAGE_SIZE = 5;

export function DataTable({ block }: BlockProps) {
  const [head = [], ...rows] = rowsOf(block);
  const [typed, setTyped] = useState('');
  const [order, setOrder] = useState<Order>();
  const [page, setPage] = useState(0);
  const size = typeof block.page_size === 'number' ? block.page_size : PAGE_SIZE;
  const found = sortRows(filterRows(rows, typed), order);
  const pages = Math.max(1, Math.ceil(found.length / size));
  const at = Math.min(page, pages - 1);
  const headerColumn = typeof block.row_header_column_index === 'number' ? block.row_header_column_index : 0;
  const caption = textIn(block, 'caption');
  const isPaged = rows.length > size;
  return (
    <div class="data-table">
      <div class="row table-tools">
        <span class="table-caption">{caption}</span>
        {isPaged && (
          <input
            type="search"
            class="text-input table-filter"
            aria-label={`Filter ${caption}`}
            placeholder="Filter"
            value={typed}
            onInput={(event) => {
              setTyped(event.currentTarget.value);
              setPage(0);
            }}
          />
        )}
      </div>
      <section class="table-scroll" aria-label={caption} {...scrollable}>
        <table>
          <thead>
            <tr>
              {head.map((cell, column) => (
                <HeadCell key={column} words={cell} column={column} order={order} onSort={setOrder} />
              ))}
            </tr>
          </thead>
          <tbody>
            {found.slice(at * size, (at + 1) * size).map((row, index) => (
              <tr key={index}>
                {row.map((cell, column) => {
                  const isHeader = column === headerColumn;
                  const Cell = isHeader ? 'th' : 'td';
                  return (
                    <Cell key={column} scope={isHeader ? 'row' : undefined}>
                      <Signed text={cell} />
                    </Cell>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {isPaged && (
        <div class="row quiet pager">
          <button type="button" class="button" disabled={at === 0} onClick={() => setPage(at - 1)}>
            ‹ Previous
          </button>
          <span role="status">
            {found.length === 0
              ? 'No matching rows'
              : `${at * size + 1}–${Math.min((at + 1) * size, found.length)} of ${found.length}`}
          </span>
          <button type="button" class="button" disabled={at >= pages - 1} onClick={() => setPage(at + 1)}>
            Next ›
          </button>
        </div>
      )}
    </div>
  );
}

interface HeadCellProps {
  readonly words: string;
  readonly column: number;
  readonly order: Order | undefined;
  readonly onSort: (order: Order | undefined) => void;
}

function HeadCell({ words, column, order, onSort }: HeadCellProps) {
  const direction = order?.column === column ? order.direction : undefined;
  const sign = direction === 'ascending' ? '↑' : direction === 'descending' ? '↓' : '↕';
  return (
    <th scope="col" aria-sort={direction ?? 'none'}>
      <button type="button" class="sort" onClick={() => onSort(nextOrder(order, column))}>
        {words} <span aria-hidden="true">{sign}</span>
      </button>
    </th>
  );
}
