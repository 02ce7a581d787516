// Draws what benchmark/RESULTS.md says, where a page has the comment `<!-- figures: SET -->`: of the newest section of that name each cell's ratio to redis.
import fs from 'node:fs'

const results = new URL('../../benchmark/RESULTS.md', import.meta.url)
const width = 360, row = 34, most = 2
const escaped = text => text.replace(/[&<>"{}]/g, char => `&#${char.charCodeAt(0)};`)
const cellsOf = line => line.split('|').slice(1, -1).map(cell => cell.trim())

// The newest section of the name with a column `OURS : redis`: its rows are [cell, median, least, most].
function newest(name) {
  const sections = fs.readFileSync(results, 'utf8').split(/^## /m).filter(section => section.startsWith(`${name}, `)).reverse()
  for (const section of sections) {
    const lines = section.split('\n')
    const begin = lines.findIndex(line => line.startsWith('| cell |') && line.includes(' : redis |'))
    if (begin < 0) continue
    const head = cellsOf(lines[begin])
    const column = head.findIndex(title => title.endsWith(' : redis'))
    const end = lines.findIndex((line, at) => at > begin && !line.startsWith('|'))
    const rows = lines.slice(begin + 2, end < 0 ? undefined : end).map(cellsOf).map(cells => [cells[0], ...cells[column].match(/[\d.]+/g).map(Number)])
    if (rows.length === 0 || rows.some(cells => cells.length !== 4 || cells.some(Number.isNaN))) throw new Error(`figures: ${lines[0]} has another form`)
    return { title: lines[0], machine: section.match(/^- machine: (.*)$/m)[1], ratio: head[column], rows }
  }
  throw new Error(`figures: RESULTS.md has no section ${name} with redis`)
}

function bar([cell, median, low, high], at) {
  const x = value => (Math.min(value, most) / most * width).toFixed(1)
  const y = at * row
  return `<g><title>${escaped(cell)}: ${median} [${low}-${high}]</title>`
    + `<text x="0" y="${y + 13}">${escaped(cell.length > 46 ? `${cell.slice(0, 45)}…` : cell)}</text>`
    + `<text x="${width}" y="${y + 13}" text-anchor="end">${median.toFixed(2)}${median > most ? ' →' : ''}</text>`
    + `<rect x="0" y="${y + 18}" width="${x(median)}" height="8" fill="var(--vp-c-brand-1)"/>`
    + `<line x1="${x(low)}" x2="${x(high)}" y1="${y + 28}" y2="${y + 28}" stroke="var(--vp-c-text-2)" stroke-width="2"/></g>`
}

export function draw(name) {
  const { title, machine, ratio, rows } = newest(name)
  const height = rows.length * row
  return `<p>${escaped(ratio)}, ${escaped(title)}, on ${escaped(machine)}</p>`
    + `<svg role="img" aria-label="${escaped(`${ratio} of ${title}`)}" viewBox="0 0 ${width} ${height}" style="width: 100%; max-width: 480px" font-size="12" fill="currentColor">`
    + `<line x1="${width / most}" x2="${width / most}" y1="0" y2="${height}" stroke="var(--vp-c-text-3)" stroke-dasharray="2 3"/>`
    + `${rows.map(bar).join('')}</svg>\n`
}

export function figures(md) {
  md.core.ruler.push('figures', state => {
    for (const token of state.tokens.filter(token => token.type === 'html_block')) {
      token.content = token.content.replace(/<!-- figures: (\w+) -->/g, (_, name) => draw(name))
    }
  })
}
