//! The words of what lies behind the home page, in each language: an incident, the history, and the
//! course of a component.

/// The words of one language. A `{}` is where a value comes in.
#[derive(Debug)]
pub(crate) struct Depth {
    /// "30 days"; of one, and of several.
    pub(crate) days: [&'static str; 2],
    /// What the choice of days is about.
    pub(crate) range: &'static str,
    pub(crate) latency: &'static str,
    /// What a percentile is.
    pub(crate) about_percentiles: &'static str,
    pub(crate) phases: &'static str,
    /// Of which checks phases are told.
    pub(crate) about_phases: &'static str,
    /// Look-up, connection, TLS, first byte, transfer.
    pub(crate) phase: [&'static str; 5],
    /// The column of times.
    pub(crate) time: &'static str,
    /// The column of successful checks.
    pub(crate) successes: &'static str,
    /// "{} ms".
    pub(crate) milliseconds: &'static str,
    /// The way to all months.
    pub(crate) older: &'static str,
    /// How a month is put together of `{m}` (its word) and `{y}`.
    pub(crate) month: &'static str,
    /// What is above the timeline of an incident.
    pub(crate) happened: &'static str,
    pub(crate) began: &'static str,
    pub(crate) taken_up: &'static str,
    pub(crate) recovered: &'static str,
    pub(crate) in_part: &'static str,
    pub(crate) unchecked: &'static str,
    pub(crate) resolved: &'static str,
    /// "Seen from 3 regions"; of one, and of several.
    pub(crate) seen_from: [&'static str; 2],
    /// "It lasted {}".
    pub(crate) lasted: &'static str,
    /// That a month had too much to tell all of it.
    pub(crate) cut: &'static str,
    pub(crate) details: &'static str,
}

impl Depth {
    /// A text of one or of several.
    pub(crate) fn counted([one, several]: [&str; 2], count: u32) -> String {
        let text = if count == 1 { one } else { several };
        text.replace("{}", &count.to_string())
    }
}

pub(super) const EN: Depth = Depth {
    days: ["{} day", "{} days"],
    range: "Time shown",
    latency: "Response time",
    about_percentiles: "p95 is the time within which 95 of 100 successful checks were answered in full.",
    phases: "Where the time goes",
    about_phases: "On average of successful checks, in samples of ten minutes.",
    phase: ["DNS", "Connection", "TLS", "First byte", "Transfer"],
    time: "Time",
    successes: "Successful checks",
    milliseconds: "{} ms",
    older: "All of the history",
    month: "{m} {y}",
    happened: "What happened",
    began: "Checks began to fail",
    taken_up: "Somebody took it up",
    recovered: "It works again",
    in_part: "It works again, slowly or in part",
    unchecked: "It is not checked any more",
    resolved: "It was declared over",
    seen_from: ["Seen from {} region", "Seen from {} regions"],
    lasted: "It lasted {}",
    cut: "This month had more; only the latest is shown.",
    details: "Details",
};

pub(super) const DE: Depth = Depth {
    days: ["{} Tag", "{} Tage"],
    range: "Gezeigte Zeit",
    latency: "Antwortzeit",
    about_percentiles: "p95 ist die Zeit, in der 95 von 100 erfolgreichen Prüfungen vollständig beantwortet waren.",
    phases: "Wofür die Zeit vergeht",
    about_phases: "Im Mittel erfolgreicher Prüfungen, in Stichproben von zehn Minuten.",
    phase: ["DNS", "Verbindung", "TLS", "Erstes Byte", "Übertragung"],
    time: "Zeit",
    successes: "Erfolgreiche Prüfungen",
    milliseconds: "{} ms",
    older: "Ganzer Verlauf",
    month: "{m} {y}",
    happened: "Was geschah",
    began: "Prüfungen schlagen fehl",
    taken_up: "Jemand kümmert sich darum",
    recovered: "Es funktioniert wieder",
    in_part: "Es funktioniert wieder, langsam oder teilweise",
    unchecked: "Es wird nicht mehr geprüft",
    resolved: "Es wurde für beendet erklärt",
    seen_from: ["Aus {} Region gesehen", "Aus {} Regionen gesehen"],
    lasted: "Es dauerte {}",
    cut: "In diesem Monat war mehr; nur das Neueste wird gezeigt.",
    details: "Einzelheiten",
};

pub(super) const FR: Depth = Depth {
    days: ["{} jour", "{} jours"],
    range: "Période affichée",
    latency: "Temps de réponse",
    about_percentiles: "p95 est le temps en lequel 95 vérifications réussies sur 100 ont reçu toute leur réponse.",
    phases: "Où passe le temps",
    about_phases: "En moyenne des vérifications réussies, sur des échantillons de dix minutes.",
    phase: ["DNS", "Connexion", "TLS", "Premier octet", "Transfert"],
    time: "Heure",
    successes: "Vérifications réussies",
    milliseconds: "{} ms",
    older: "Tout l’historique",
    month: "{m} {y}",
    happened: "Ce qui s’est passé",
    began: "Les vérifications ont commencé à échouer",
    taken_up: "Quelqu’un s’en occupe",
    recovered: "Le service fonctionne de nouveau",
    in_part: "Le service fonctionne de nouveau, lentement ou en partie",
    unchecked: "Le service n’est plus vérifié",
    resolved: "L’incident a été déclaré terminé",
    seen_from: ["Vu depuis {} région", "Vu depuis {} régions"],
    lasted: "Durée : {}",
    cut: "Ce mois en a compté davantage ; seul le plus récent est affiché.",
    details: "Détails",
};

pub(super) const ES: Depth = Depth {
    days: ["{} día", "{} días"],
    range: "Tiempo mostrado",
    latency: "Tiempo de respuesta",
    about_percentiles: "p95 es el tiempo en el que 95 de cada 100 comprobaciones correctas recibieron toda su respuesta.",
    phases: "En qué se va el tiempo",
    about_phases: "En promedio de comprobaciones correctas, en muestras de diez minutos.",
    phase: ["DNS", "Conexión", "TLS", "Primer byte", "Transferencia"],
    time: "Hora",
    successes: "Comprobaciones correctas",
    milliseconds: "{} ms",
    older: "Todo el historial",
    month: "{m} de {y}",
    happened: "Qué ocurrió",
    began: "Las comprobaciones empezaron a fallar",
    taken_up: "Alguien se ocupa de ello",
    recovered: "Funciona de nuevo",
    in_part: "Funciona de nuevo, con lentitud o en parte",
    unchecked: "Ya no se comprueba",
    resolved: "Se dio por terminado",
    seen_from: ["Visto desde {} región", "Visto desde {} regiones"],
    lasted: "Duró {}",
    cut: "En este mes hubo más; solo se muestra lo más reciente.",
    details: "Detalles",
};

pub(super) const PT: Depth = Depth {
    days: ["{} dia", "{} dias"],
    range: "Tempo mostrado",
    latency: "Tempo de resposta",
    about_percentiles: "p95 é o tempo em que 95 de cada 100 verificações bem-sucedidas receberam toda a resposta.",
    phases: "Onde o tempo é gasto",
    about_phases: "Em média de verificações bem-sucedidas, em amostras de dez minutos.",
    phase: ["DNS", "Conexão", "TLS", "Primeiro byte", "Transferência"],
    time: "Hora",
    successes: "Verificações bem-sucedidas",
    milliseconds: "{} ms",
    older: "Todo o histórico",
    month: "{m} de {y}",
    happened: "O que aconteceu",
    began: "As verificações começaram a falhar",
    taken_up: "Alguém está a tratar disso",
    recovered: "Funciona de novo",
    in_part: "Funciona de novo, com lentidão ou em parte",
    unchecked: "Já não é verificado",
    resolved: "Foi dado por terminado",
    seen_from: ["Visto de {} região", "Visto de {} regiões"],
    lasted: "Durou {}",
    cut: "Este mês teve mais; só o mais recente é mostrado.",
    details: "Detalhes",
};

pub(super) const JA: Depth = Depth {
    days: ["{}日間", "{}日間"],
    range: "表示期間",
    latency: "応答時間",
    about_percentiles: "p95は、成功した確認100回のうち95回で応答が完了するまでの時間です。",
    phases: "時間の内訳",
    about_phases: "成功した確認の平均です（10分間ごとの抜き取り）。",
    phase: ["DNS", "接続", "TLS", "最初のバイト", "転送"],
    time: "時刻",
    successes: "成功した確認",
    milliseconds: "{} ms",
    older: "すべての履歴",
    month: "{y}年{m}",
    happened: "経過",
    began: "確認が失敗し始めました",
    taken_up: "担当者が対応を始めました",
    recovered: "復旧しました",
    in_part: "復旧しましたが、遅いか一部のみです",
    unchecked: "確認は行われなくなりました",
    resolved: "終了と宣言されました",
    seen_from: ["{}か所の地域で確認", "{}か所の地域で確認"],
    lasted: "継続時間：{}",
    cut: "この月には表示しきれない項目があります。最新のもののみ表示しています。",
    details: "詳細",
};

pub(super) const ZH: Depth = Depth {
    days: ["{} 天", "{} 天"],
    range: "显示时段",
    latency: "响应时间",
    about_percentiles: "p95 表示 100 次成功检查中有 95 次在此时间内收到完整响应。",
    phases: "时间花在哪里",
    about_phases: "成功检查的平均值，按十分钟抽样。",
    phase: ["DNS", "连接", "TLS", "首字节", "传输"],
    time: "时间",
    successes: "成功的检查",
    milliseconds: "{} 毫秒",
    older: "全部历史",
    month: "{y}年{m}",
    happened: "经过",
    began: "检查开始失败",
    taken_up: "已有人处理",
    recovered: "已恢复正常",
    in_part: "已恢复，但较慢或仅部分可用",
    unchecked: "不再检查",
    resolved: "已宣布结束",
    seen_from: ["从 {} 个地区观察到", "从 {} 个地区观察到"],
    lasted: "持续 {}",
    cut: "本月内容较多，仅显示最新部分。",
    details: "详情",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_the_same_places_for_values() {
        for words in [EN, DE, FR, ES, PT, JA, ZH] {
            for (text, values) in [
                (words.days[0], 1),
                (words.days[1], 1),
                (words.milliseconds, 1),
                (words.seen_from[0], 1),
                (words.seen_from[1], 1),
                (words.lasted, 1),
                (words.cut, 0),
                (words.about_percentiles, 0),
            ] {
                assert_eq!(text.matches("{}").count(), values, "{text}");
            }
            assert!(words.month.contains("{m}") && words.month.contains("{y}"), "{}", words.month);
        }
        assert_eq!(Depth::counted(EN.seen_from, 1), "Seen from 1 region");
        assert_eq!(Depth::counted(EN.days, 30), "30 days");
    }
}
