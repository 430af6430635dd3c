//! The words of the pages on which visitors subscribe, in the seven languages. A `{}` is where a value
//! comes in.

use rules::status_page::{Language, Topic};

/// The words of one language.
pub(super) struct Words {
    pub(super) title: &'static str,
    pub(super) intro: &'static str,
    pub(super) email: &'static str,
    pub(super) topics: &'static str,
    /// Of reports, maintenance and incidents.
    pub(super) topic: [&'static str; 3],
    pub(super) components: &'static str,
    pub(super) submit: &'static str,
    pub(super) sent: &'static str,
    pub(super) wrong_email: &'static str,
    /// The address is at none of the domains of a page for members.
    pub(super) no_member: &'static str,
    /// The page has as many subscribers as it may have.
    pub(super) full: &'static str,
    pub(super) confirm_title: &'static str,
    pub(super) confirm: &'static str,
    pub(super) confirmed: &'static str,
    pub(super) manage_title: &'static str,
    pub(super) save: &'static str,
    pub(super) saved: &'static str,
    pub(super) unsubscribe_title: &'static str,
    pub(super) unsubscribe: &'static str,
    pub(super) ended: &'static str,
    pub(super) no_longer: &'static str,
}

/// The words of a language.
pub(super) const fn of(language: Language) -> &'static Words {
    match language {
        Language::En => &EN,
        Language::De => &DE,
        Language::Fr => &FR,
        Language::Es => &ES,
        Language::Pt => &PT,
        Language::Ja => &JA,
        Language::Zh => &ZH,
    }
}

impl Words {
    pub(super) const fn topic(&self, topic: Topic) -> &'static str {
        let [reports, maintenance, incidents] = self.topic;
        match topic {
            Topic::Reports => reports,
            Topic::Maintenance => maintenance,
            Topic::Incidents => incidents,
        }
    }
}

const EN: Words = Words {
    title: "Subscribe by email",
    intro: "You will be asked by email whether the address is yours. Every email has a link that ends it.",
    email: "Email address",
    topics: "Tell me of",
    topic: ["Reports", "Planned maintenance", "Outages as they are measured"],
    components: "Only of these components (none: of all)",
    submit: "Subscribe",
    sent: "An email is on its way, if it can be delivered to this address. Its link holds for 24 hours.",
    wrong_email: "This is no email address.",
    no_member: "Only addresses at the domains of this page’s members can subscribe.",
    full: "This page cannot take any more subscribers at the moment.",
    confirm_title: "Confirm your subscription",
    confirm: "Yes, tell me what happens here",
    confirmed: "The subscription is confirmed.",
    manage_title: "Choose what you hear of",
    save: "Save",
    saved: "It is saved.",
    unsubscribe_title: "End the subscription",
    unsubscribe: "Unsubscribe",
    ended: "The subscription has ended, and the address is forgotten.",
    no_longer: "This link does not hold any more.",
};

const DE: Words = Words {
    title: "Per E-Mail abonnieren",
    intro: "Eine E-Mail fragt, ob die Adresse Ihre ist. Jede E-Mail enthält einen Link, der das Abonnement beendet.",
    email: "E-Mail-Adresse",
    topics: "Melden",
    topic: ["Berichte", "Geplante Wartung", "Gemessene Ausfälle"],
    components: "Nur von diesen Komponenten (keine: von allen)",
    submit: "Abonnieren",
    sent: "Eine E-Mail ist unterwegs, wenn sie dieser Adresse zugestellt werden kann. Der Link darin gilt 24 Stunden.",
    wrong_email: "Das ist keine E-Mail-Adresse.",
    no_member: "Nur Adressen bei den Domains der Mitglieder dieser Seite können abonnieren.",
    full: "Diese Seite kann im Moment keine weiteren Abonnements annehmen.",
    confirm_title: "Abonnement bestätigen",
    confirm: "Ja, ich möchte erfahren, was hier geschieht",
    confirmed: "Das Abonnement ist bestätigt.",
    manage_title: "Auswählen, was gemeldet wird",
    save: "Speichern",
    saved: "Es ist gespeichert.",
    unsubscribe_title: "Abonnement beenden",
    unsubscribe: "Abbestellen",
    ended: "Das Abonnement ist beendet und die Adresse vergessen.",
    no_longer: "Dieser Link gilt nicht mehr.",
};

const FR: Words = Words {
    title: "S’abonner par e-mail",
    intro: "Un e-mail vous demandera si l’adresse est la vôtre. Chaque e-mail contient un lien qui met fin à l’abonnement.",
    email: "Adresse e-mail",
    topics: "M’informer",
    topic: ["des rapports", "des maintenances prévues", "des pannes mesurées"],
    components: "Seulement de ces composants (aucun : de tous)",
    submit: "S’abonner",
    sent: "Un e-mail est en route, s’il peut être remis à cette adresse. Son lien est valable 24 heures.",
    wrong_email: "Ce n’est pas une adresse e-mail.",
    no_member: "Seules les adresses des domaines des membres de cette page peuvent s’abonner.",
    full: "Cette page ne peut pas accepter d’autres abonnements pour le moment.",
    confirm_title: "Confirmer l’abonnement",
    confirm: "Oui, je veux savoir ce qui se passe ici",
    confirmed: "L’abonnement est confirmé.",
    manage_title: "Choisir ce qui vous est annoncé",
    save: "Enregistrer",
    saved: "C’est enregistré.",
    unsubscribe_title: "Mettre fin à l’abonnement",
    unsubscribe: "Se désabonner",
    ended: "L’abonnement a pris fin et l’adresse est oubliée.",
    no_longer: "Ce lien n’est plus valable.",
};

const ES: Words = Words {
    title: "Suscribirse por correo",
    intro: "Un correo le preguntará si la dirección es suya. Cada correo lleva un enlace que termina la suscripción.",
    email: "Dirección de correo",
    topics: "Informarme de",
    topic: ["Informes", "Mantenimiento programado", "Fallos medidos"],
    components: "Solo de estos componentes (ninguno: de todos)",
    submit: "Suscribirse",
    sent: "Hay un correo en camino, si puede entregarse en esta dirección. Su enlace vale 24 horas.",
    wrong_email: "Esto no es una dirección de correo.",
    no_member: "Solo pueden suscribirse direcciones de los dominios de los miembros de esta página.",
    full: "Esta página no puede aceptar más suscripciones por el momento.",
    confirm_title: "Confirmar la suscripción",
    confirm: "Sí, quiero saber lo que ocurre aquí",
    confirmed: "La suscripción está confirmada.",
    manage_title: "Elegir de qué se le informa",
    save: "Guardar",
    saved: "Está guardado.",
    unsubscribe_title: "Terminar la suscripción",
    unsubscribe: "Cancelar la suscripción",
    ended: "La suscripción ha terminado y la dirección se ha olvidado.",
    no_longer: "Este enlace ya no es válido.",
};

const PT: Words = Words {
    title: "Subscrever por e-mail",
    intro: "Um e-mail perguntará se o endereço é seu. Cada e-mail tem uma ligação que termina a subscrição.",
    email: "Endereço de e-mail",
    topics: "Informar-me de",
    topic: ["Relatórios", "Manutenção planeada", "Falhas medidas"],
    components: "Só destes componentes (nenhum: de todos)",
    submit: "Subscrever",
    sent: "Um e-mail está a caminho, se puder ser entregue neste endereço. A sua ligação é válida durante 24 horas.",
    wrong_email: "Isto não é um endereço de e-mail.",
    no_member: "Só podem subscrever endereços dos domínios dos membros desta página.",
    full: "De momento, esta página não pode aceitar mais subscrições.",
    confirm_title: "Confirmar a subscrição",
    confirm: "Sim, quero saber o que acontece aqui",
    confirmed: "A subscrição está confirmada.",
    manage_title: "Escolher o que recebe",
    save: "Guardar",
    saved: "Está guardado.",
    unsubscribe_title: "Terminar a subscrição",
    unsubscribe: "Cancelar a subscrição",
    ended: "A subscrição terminou e o endereço foi esquecido.",
    no_longer: "Esta ligação já não é válida.",
};

const JA: Words = Words {
    title: "メールで購読する",
    intro: "アドレスの確認メールをお送りします。どのメールにも購読を解除するリンクがあります。",
    email: "メールアドレス",
    topics: "受け取る内容",
    topic: ["報告", "メンテナンスの予定", "計測された障害"],
    components: "次のコンポーネントのみ（選択なし: すべて）",
    submit: "購読する",
    sent: "このアドレスに配信できる場合、メールが届きます。リンクは24時間有効です。",
    wrong_email: "メールアドレスではありません。",
    no_member: "このページのメンバーのドメインのアドレスだけが購読できます。",
    full: "現在、このページはこれ以上の購読を受け付けられません。",
    confirm_title: "購読の確認",
    confirm: "はい、お知らせを受け取ります",
    confirmed: "購読を確認しました。",
    manage_title: "受け取る内容を選ぶ",
    save: "保存する",
    saved: "保存しました。",
    unsubscribe_title: "購読の解除",
    unsubscribe: "購読を解除する",
    ended: "購読を解除し、アドレスを削除しました。",
    no_longer: "このリンクは無効です。",
};

const ZH: Words = Words {
    title: "通过邮件订阅",
    intro: "我们会发送邮件确认此地址属于您。每封邮件都有退订链接。",
    email: "邮箱地址",
    topics: "接收内容",
    topic: ["报告", "计划维护", "测得的故障"],
    components: "仅限以下组件（不选：全部）",
    submit: "订阅",
    sent: "如果此地址可以收信，邮件已在发送途中。链接 24 小时内有效。",
    wrong_email: "这不是邮箱地址。",
    no_member: "只有此页面成员域名下的邮箱才能订阅。",
    full: "此页面目前无法接受更多订阅。",
    confirm_title: "确认订阅",
    confirm: "是的，请告诉我这里发生的事",
    confirmed: "订阅已确认。",
    manage_title: "选择接收的内容",
    save: "保存",
    saved: "已保存。",
    unsubscribe_title: "结束订阅",
    unsubscribe: "退订",
    ended: "订阅已结束，地址已删除。",
    no_longer: "此链接已失效。",
};
